"""A real server in a thread, and ways to talk to it that no proper client has."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import httpx2

from regard.service.app import create_app
from regard.service.front import Door
from regard.service.limits import Limits
from regard.service.models import Model, Models
from regard.service.server import Server, address, bind

PATIENCE = 30.0


class Service(NamedTuple):
    """A service that is up."""

    url: str
    client: httpx2.Client

    def post(self, path: str, content: Any, **more: Any) -> httpx2.Response:
        return self.client.post(path, json=content, **more)

    def predict(self, source: str, **options: Any) -> Any:
        response = self.post("/v1/predict", {"source": source, **options})
        assert response.status_code == 200, response.text
        return response.json()["predictions"][0]

    def metric(self, name: str) -> float:
        """A line of /metrics by its name and labels."""
        lines = (line.rsplit(" ", 1) for line in self.client.get("/metrics").text.splitlines() if line[0] != "#")
        return float(dict(lines)[name])

    def raw(self, *parts: bytes) -> bytes:
        """What comes back for these bytes until the server closes, or has no more to say."""
        host, port = self.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
            for part in parts:
                connection.sendall(part)
            connection.shutdown(socket.SHUT_WR) if not parts else None
            return b"".join(iter(lambda: connection.recv(65536), b""))


@contextmanager
def serving(
    models: Sequence[Model],
    limits: Limits | None = None,
    door: Door | None = None,
    headers: dict[str, str] | None = None,
) -> Iterator[Service]:
    limits, up = limits or Limits(), threading.Event()
    with closing(bind("127.0.0.1", 0)) as opened:
        server = Server(create_app(Models(models), limits, door), limits.seconds, up.set)
        thread = threading.Thread(target=server.run, args=([opened],))
        thread.start()
        try:
            assert up.wait(PATIENCE)
            with httpx2.Client(base_url=address(opened), timeout=PATIENCE, headers=headers, trust_env=False) as client:
                yield Service(address(opened), client)
        finally:
            server.should_exit = True
            thread.join()


def together(count: int, job: Callable[[int], Any]) -> list[Any]:
    """The results of job(0) … job(count − 1), all begun at one moment in threads of their own."""
    results: list[Any] = [None] * count
    start = threading.Barrier(count)

    def one(number: int) -> None:
        start.wait()
        results[number] = job(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def trouble(response: httpx2.Response, status: int) -> dict[str, str]:
    """The error of a refused request, which has the form of all."""
    assert response.status_code == status, response.text
    assert list(response.json()) == ["error"]
    error: dict[str, str] = response.json()["error"]
    assert {"message", "request_id"} <= set(error) <= {"message", "request_id", "fix"}
    assert error["request_id"] == response.headers["x-request-id"]
    return error


def log_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
