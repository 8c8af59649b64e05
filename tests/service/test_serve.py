"""`regard serve` as a process: what it prints, when it refuses, how it stops."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

import regard as package
from regard.service.serving import door
from tests.command import refused, regard
from tests.conftest import Reverse

SLOW = {"sources": ["abcde" * 8] * 100, "beam": 32, "nbest": 32}  # a second or more


@contextmanager
def process(*arguments: object, **environment: str) -> "Iterator[subprocess.Popen[str]]":
    command = [sys.executable, "-m", "regard", "serve", *map(str, arguments)]
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=surroundings) as started:
        try:
            yield started
        finally:
            started.kill()


def url_of(server: "subprocess.Popen[str]") -> str:
    assert server.stdout is not None
    line = server.stdout.readline()
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d*\n", line), (line, server.stderr and server.stderr.read())
    return line.strip()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopping_finishes_what_is_running(reverse: Reverse, number: int) -> None:
    with process(reverse.run, "--port", 0, "--seconds", 300, "--weights", 10**10) as server:
        url = url_of(server)
        found: list[Any] = []

        def ask() -> None:
            found.append(httpx2.post(f"{url}/v1/predict", json=SLOW, timeout=300, trust_env=False))

        asking = threading.Thread(target=ask)
        asking.start()
        wait_for(url, "regard_requests_in_hand 2")
        server.send_signal(number)
        until_refused(url)
        asking.join()
        out, err = server.communicate(timeout=300)
    assert found[0].status_code == 200
    assert len(found[0].json()["predictions"]) == 100
    assert server.returncode == 0
    assert out == ""
    assert "Traceback" not in err
    assert f"serving run: open {url} in a browser; Ctrl-C stops" in err


def until_refused(url: str) -> None:
    """A server that stops takes no more connections, at latest after a while."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            httpx2.get(f"{url}/health", timeout=60, trust_env=False)
        except httpx2.TransportError:
            return
    raise AssertionError("it still answers")


def wait_for(url: str, line: str) -> None:
    """Until /metrics has this line; asking for it is a request in hand too."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if line in httpx2.get(f"{url}/metrics", timeout=60, trust_env=False).text:
            return
    raise AssertionError(f"{line!r} did not come")


def test_several_runs_a_token_from_the_environment_and_limits(reverse: Reverse) -> None:
    options = ("--port", 0, "--beam", 2, "--nbest", 2, "--threads", 1)
    with process(reverse.run, f"second={reverse.run}", *options, REGARD_TOKEN="sesame") as server:
        url, headers = url_of(server), {"Authorization": "Bearer sesame"}
        assert httpx2.get(f"{url}/v1/models", trust_env=False).status_code == 401
        models = httpx2.get(f"{url}/v1/models", headers=headers, trust_env=False).json()["models"]
        assert [one["name"] for one in models] == ["run", "second"]
        asked = {"source": "abc", "beam": 3}
        refusal = httpx2.post(f"{url}/v1/predict", json=asked, headers=headers, trust_env=False, timeout=60)
        assert "at most 2" in refusal.json()["error"]["message"]


def test_a_port_that_is_taken(reverse: Reverse) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(regard("serve", reverse.run, "--port", port), 1, f"cannot open port {port}", "choose another --port")


def test_an_address_that_is_not_of_this_machine(reverse: Reverse) -> None:
    refused(regard("serve", reverse.run, "--host", "192.0.2.1", "--port", 0), 1, "192.0.2.1")


def test_a_run_that_cannot_be_loaded_stops_before_the_port_is_opened(reverse: Reverse, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(regard("serve", reverse.run, tmp_path / "none", "--port", port), 2, "there is no run")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--queue", 5, "--sources", 6], 2, "--queue 5 has no room"),
        (["--seconds", "nan"], 2, "--seconds nan"),
        (["--token", "pass word", "--port", 0], 2, "no header carries"),
        (["--token", "", "--port", 0], 2, "the token is empty"),
        (["--port", 70000], 2, "70000"),
    ],
)
def test_options_that_make_no_sense(reverse: Reverse, options: list[object], code: int, said: str) -> None:
    refused(regard("serve", reverse.run, *options), code, said)


def test_without_the_extra_it_says_what_to_install(reverse: Reverse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    refused(regard("serve", reverse.run), 2, "uvicorn", "pip install 'regard[serve]'")


def test_the_help_has_an_example_and_imports_no_framework() -> None:
    code = "import sys; sys.argv[1:] = ['serve', '--help']; import regard.cli; regard.cli.main()"
    call = [sys.executable, "-X", "importtime", "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    ended = subprocess.run(call, env=environment, text=True, capture_output=True, check=False)
    assert "regard serve runs/en" in ended.stdout
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in ended.stderr.splitlines()}
    assert not imported & {"fastapi", "starlette", "uvicorn", "torch", "pydantic", "numpy"}


def test_the_door_of_an_address_that_others_reach(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("0.0.0.0", 0)) as everywhere:
        assert door(everywhere, "", []).hosts == frozenset()
        assert "whoever reaches this address may use it" in capsys.readouterr().err
        door(everywhere, "secret", [])
        assert capsys.readouterr().err == ""
    with socket.create_server(("127.0.0.1", 0)) as home:
        assert door(home, "", ["Regard.Example"]).hosts == {"localhost", "127.0.0.1", "[::1]", "regard.example"}
        assert door(home, "secret", []).hosts == frozenset()
        assert capsys.readouterr().err == ""
