"""Many clients at once: is any answer lost or wrong, how long do they wait, does the server's memory stay flat?

    python benchmarks/service.py RUN [--clients 200] [--seconds 30] [--words 2000] [--beam N]

Starts `regard serve RUN` on a free port of this machine. Before, the answers to words made of the letters that the run
knows are computed by `run.predict`, each alone. Then every client sends one request after the other for --seconds, and
each answer is compared: the output must be equal, the attention within 1e-5. A second phase serves with a queue for
an eighth of the clients, so that most requests must be refused (429) and none may fail. Prints the
tables of service.md.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

import numpy as np

import regard
from regard.data.vocabulary import SPECIALS

NEAR = 1e-5  # weights may differ by so much


class Known(NamedTuple):
    """A request and the answer it must get."""

    source: str
    output: str
    attention: Any  # (T, S), or None


@dataclass
class Tally:
    """What became of the requests."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)  # of those that were answered
    memory: list[float] = field(default_factory=list)  # MB of the server, from the start to the end
    batch: float = 0.0  # sources answered at once, on average
    took: float = 0.0


def main() -> None:
    options = _options()
    run: Any = regard.load(options.run)
    known = list(_known(run, options.words, options.beam))
    print(_machine(), file=sys.stderr)
    plain = _phase(options, known, [])
    small = str(_small_queue(options))
    overload = _phase(options, known, ["--queue", small, "--sources", small])
    print(table(options, plain, overload))
    bad = [name for name in ("wrong", "lost", "other") if plain.outcomes[name] or overload.outcomes[name]]
    if bad or not overload.outcomes["429"] or plain.outcomes["429"]:
        sys.exit(f"not as it should be: {dict(plain.outcomes)}, {dict(overload.outcomes)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--words", type=int, default=2000, help="different sources")
    parser.add_argument("--beam", type=int, help="the recipe's by default")
    return parser.parse_args()


def _small_queue(options: argparse.Namespace) -> int:
    return max(options.clients // 8, 1)


def _known(run: Any, count: int, beam: int | None) -> Iterator[Known]:
    """Words of 3 to 12 letters, and what the run answers to each alone."""
    chance = random.Random(1)
    letters = [symbol for symbol in run.codec.source.vocabulary.symbols if symbol not in SPECIALS and symbol.isalpha()]
    for _ in range(count):
        source = "".join(chance.choices(letters, k=chance.randint(3, 12)))
        answer = run.predict(source, **({"beam": beam} if beam else {}))
        yield Known(source, answer.output, answer.attention)


def _phase(options: argparse.Namespace, known: Sequence[Known], limits: Sequence[str]) -> Tally:
    with _server(options.run, limits) as (server, port):
        return asyncio.run(_load(options, known, server.pid, port))


@contextmanager
def _server(run: str, limits: Sequence[str]) -> "Iterator[tuple[subprocess.Popen[str], int]]":
    """A process that must end well when it is told to stop."""
    command = [sys.executable, "-m", "regard", "serve", run, "--port", "0", *limits]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        if not line:
            sys.exit(f"regard serve did not start: exit code {server.wait()}")
        yield server, int(line.rpartition(":")[2])
        server.send_signal(signal.SIGTERM)
        if server.wait(60) != 0:
            sys.exit(f"the server ended with code {server.returncode}")


async def _load(options: argparse.Namespace, known: Sequence[Known], pid: int, port: int) -> Tally:
    tally = Tally()
    await _client(port, known[:20], options.beam, time.monotonic() + 2, Tally())  # warms it up
    watching = asyncio.ensure_future(_watch(pid, tally))
    started = time.monotonic()
    shares = [random.Random(number).sample(known, len(known)) for number in range(options.clients)]
    end = started + options.seconds
    await asyncio.gather(*(_client(port, share, options.beam, end, tally) for share in shares))
    tally.took = time.monotonic() - started
    watching.cancel()
    tally.memory.append(_memory(pid))
    tally.batch = await _mean_batch(port)
    return tally


async def _client(port: int, known: Sequence[Known], beam: int | None, end: float, tally: Tally) -> None:
    """One request after the other over one connection, as long as there is time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    while time.monotonic() < end:
        asked, number = known[number % len(known)], number + 1
        started = time.monotonic()
        try:
            status, headers, body = await _exchange(reader, writer, asked.source, beam)
        except (OSError, asyncio.IncompleteReadError):
            tally.outcomes["lost"] += 1
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        outcome = _judge(asked, status, body)
        tally.outcomes[outcome] += 1
        if outcome == "right":
            tally.seconds.append(time.monotonic() - started)
        elif outcome == "429":  # a client that does as it is told, but for the sake of the test not for so long
            assert int(headers["retry-after"]) >= 1
            await asyncio.sleep(0.05)
    writer.close()


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


async def _exchange(reader: Any, writer: Any, source: str, beam: int | None) -> Reply:
    """One request by hand: a client library would take more of the processor than the server."""
    body = json.dumps({"source": source} | ({"beam": beam} if beam else {})).encode()
    head = (
        f"POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    writer.write(head.encode() + b"\r\n\r\n" + body)
    return await _read(reader)


async def _read(reader: Any) -> Reply:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return Reply(int(first.split()[1]), headers, await reader.readexactly(int(headers["content-length"])))


def _judge(asked: Known, status: int, body: bytes) -> str:
    if status != 200:
        return "429" if status == 429 else "other"
    [found] = json.loads(body)["predictions"]
    same = found["source"] == asked.source and found["output"] == asked.output
    if asked.attention is not None:
        same = same and np.allclose(found["attention"], asked.attention, rtol=0, atol=NEAR)
    return "right" if same else "wrong"


async def _watch(pid: int, tally: Tally) -> None:
    while True:
        tally.memory.append(_memory(pid))
        await asyncio.sleep(1)


def _memory(pid: int) -> float:
    """MB that the process holds (Linux)."""
    with open(f"/proc/{pid}/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


async def _mean_batch(port: int) -> float:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    lines = dict(line.rsplit(" ", 1) for line in (await _read(reader)).body.decode().splitlines())
    writer.close()
    return float(lines["regard_batch_sources_sum"]) / float(lines["regard_batch_sources_count"])


def table(options: argparse.Namespace, plain: Tally, overload: Tally) -> str:
    head = f"{date.today()}, {_machine()}, {options.clients} clients for {options.seconds:g} s on loopback"
    rows = [
        ("answered right", *(f"{one.outcomes['right']:,}" for one in (plain, overload))),
        ("wrong", *(str(one.outcomes["wrong"]) for one in (plain, overload))),
        ("lost, or another status", *(str(one.outcomes["lost"] + one.outcomes["other"]) for one in (plain, overload))),
        ("refused with 429", *(f"{one.outcomes['429']:,}" for one in (plain, overload))),
        ("answers per second", *(f"{one.outcomes['right'] / one.took:,.0f}" for one in (plain, overload))),
        ("p50 / p99, ms", *(_percentiles(one.seconds) for one in (plain, overload))),
        ("sources in a batch, mean", *(f"{one.batch:.1f}" for one in (plain, overload))),
        ("memory at the start / after a third / at the end, MB", *(_growth(one.memory) for one in (plain, overload))),
    ]
    lines = [
        f"| | default limits | queue of {_small_queue(options)} |",
        "|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join([head, "", *lines])


def _percentiles(seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return "–"
    cuts = statistics.quantiles(seconds, n=100)
    return f"{cuts[49] * 1000:.0f} / {cuts[98] * 1000:.0f}"


def _growth(memory: Sequence[float]) -> str:
    return " / ".join(f"{one:.0f}" for one in (memory[0], memory[len(memory) // 3], memory[-1]))


def _machine() -> str:
    with open("/proc/cpuinfo") as lines:
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return (
        f"{names[0] if names else platform.machine()} × {os.cpu_count()}, load {os.getloadavg()[0]:.1f} at this moment"
    )


if __name__ == "__main__":
    main()
