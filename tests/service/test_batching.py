"""Questions that arrive together are answered together, each as if it were alone."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import numpy as np
import pytest

from regard import Run
from regard.errors import UsageError
from regard.service.batching import Batcher
from regard.service.limits import Limits
from regard.service.metrics import Metrics
from regard.service.models import Model
from regard.service.refusal import Refused
from tests.service.http import Service, Spy, serving, together, trouble


class Double:
    """Answers twice each item; keeps the batches, and holds each until it is let go."""

    def __init__(self) -> None:
        self.batches: list[tuple[Any, list[Any]]] = []
        self.go = threading.Event()
        self.go.set()

    def __call__(self, key: Any, items: Sequence[Any]) -> list[Any]:
        self.batches.append((key, list(items)))
        self.go.wait(10)
        return [ValueError(item) if item == "bad" else 2 * item for item in items]


def ask(answer: Any, job: Callable[[Batcher], Coroutine[Any, Any, Any]], **limits: Any) -> Any:
    """What a job on an event loop of its own finds out about a batcher."""

    async def inside() -> Any:
        batcher = Batcher(answer, Limits(**limits), Metrics())
        batcher.start()
        try:
            return await job(batcher)
        finally:
            answer.go.set()
            batcher.stop()
            assert batcher.waiting == 0

    return asyncio.run(inside())


async def held(batcher: Batcher, double: Double) -> "asyncio.Task[list[Any]]":
    """The worker is busy with this question until `double.go` is set; what is asked meanwhile has to queue."""
    double.go.clear()
    task = asyncio.ensure_future(batcher.ask("first", [0]))
    while not double.batches:
        await asyncio.sleep(0.001)
    return task


def test_those_with_one_key_share_a_batch_and_others_do_not() -> None:
    double = Double()

    async def job(batcher: Batcher) -> Any:
        return await asyncio.gather(*(batcher.ask(key, [n]) for n, key in enumerate("aababa")))

    assert ask(double, job, wait=0.2) == [[0], [2], [4], [6], [8], [10]]
    assert double.batches == [("a", [0, 1, 3, 5]), ("b", [2, 4])]


def test_a_batch_that_is_full_does_not_wait() -> None:
    double = Double()

    async def job(batcher: Batcher) -> Any:
        return await asyncio.gather(*(batcher.ask("a", [n]) for n in range(4)))

    started = time.monotonic()
    ask(double, job, wait=30.0, batch=2)
    assert time.monotonic() - started < 10
    assert [items for _, items in double.batches] == [[0, 1], [2, 3]]


def test_a_long_question_lets_a_short_one_through() -> None:
    double = Double()

    async def job(batcher: Batcher) -> Any:
        first = await held(batcher, double)
        long = asyncio.ensure_future(batcher.ask("a", list(range(10))))
        await asyncio.sleep(0)
        short = asyncio.ensure_future(batcher.ask("a", [77]))
        other = asyncio.ensure_future(batcher.ask("b", [99]))
        await asyncio.sleep(0.02)
        double.go.set()
        return await asyncio.gather(first, long, short, other)

    _, long, short, other = ask(double, job, batch=4, wait=0.0)
    assert long == [2 * n for n in range(10)]
    assert (short, other) == ([154], [198])
    # one item of each in turn, and the other key before the rest
    assert [items for _, items in double.batches[1:]] == [[0, 77, 1, 2], [99], [3, 4, 5, 6], [7, 8, 9]]


def test_a_question_that_nobody_waits_for_gives_up_its_place() -> None:
    double = Double()

    async def job(batcher: Batcher) -> Any:
        first = await held(batcher, double)
        gone = asyncio.ensure_future(batcher.ask("a", [1, 2, 3]))
        await asyncio.sleep(0.01)
        assert batcher.waiting == 3
        gone.cancel()
        await asyncio.sleep(0.01)
        assert batcher.waiting == 0
        stays = asyncio.ensure_future(batcher.ask("a", [4]))
        await asyncio.sleep(0.01)
        double.go.set()
        return await asyncio.gather(first, stays)

    assert ask(double, job) == [[0], [8]]
    assert [items for _, items in double.batches] == [[0], [4]]


def test_a_question_without_an_answer_in_time_is_told_so_and_dropped() -> None:
    double = Double()

    async def job(batcher: Batcher) -> Any:
        first = await held(batcher, double)
        with pytest.raises(Refused) as refused:
            await batcher.ask("a", [1, 2])
        assert (refused.value.status, batcher.waiting) == (504, 0)
        with pytest.raises(Refused):
            await first

    ask(double, job, seconds=0.05)
    assert [items for _, items in double.batches] == [[0]]


def test_what_does_not_fit_in_the_queue_is_refused_and_the_rest_is_answered() -> None:
    double = Double()

    async def job(batcher: Batcher) -> Any:
        first = await held(batcher, double)
        queued = [asyncio.ensure_future(batcher.ask("a", [n])) for n in range(3)]
        await asyncio.sleep(0.01)
        with pytest.raises(Refused) as refused:
            await batcher.ask("b", [1, 2])
        assert refused.value.status == 429
        assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
        last = asyncio.ensure_future(batcher.ask("b", [9]))  # there is room for one
        await asyncio.sleep(0.01)
        double.go.set()
        return await asyncio.gather(first, *queued, last)

    assert ask(double, job, queue=4, sources=4) == [[0], [0], [2], [4], [18]]


def test_an_item_at_fault_fails_its_question_only() -> None:
    double = Double()

    async def job(batcher: Batcher) -> Any:
        return await asyncio.gather(
            batcher.ask("a", ["x", "bad", "y"]), batcher.ask("a", ["z"]), return_exceptions=True
        )

    failed, fine = ask(double, job, wait=0.1)
    assert isinstance(failed, ValueError)
    assert fine == ["zz"]
    assert len(double.batches) == 1


def test_a_batch_that_fails_is_tried_one_by_one() -> None:
    class Picky(Double):
        def __call__(self, key: Any, items: Sequence[Any]) -> list[Any]:
            if 3 in items:
                raise MemoryError
            return super().__call__(key, items)

    async def job(batcher: Batcher) -> Any:
        return await asyncio.gather(*(batcher.ask("a", [n]) for n in range(5)), return_exceptions=True)

    found = ask(Picky(), job, wait=0.1)
    assert [found[n] for n in (0, 1, 2, 4)] == [[0], [2], [4], [8]]
    assert isinstance(found[3], MemoryError)


def test_a_wrong_key_is_the_fault_of_all_who_have_it_and_is_not_tried_again() -> None:
    calls: list[int] = []

    class Wrong(Double):
        def __call__(self, key: Any, items: Sequence[Any]) -> list[Any]:
            calls.append(len(items))
            raise UsageError("no such option")

    async def job(batcher: Batcher) -> Any:
        return await asyncio.gather(*(batcher.ask("a", [n]) for n in range(3)), return_exceptions=True)

    assert [type(one) for one in ask(Wrong(), job, wait=0.1)] == [UsageError] * 3
    assert calls == [3]


def test_stopping_finishes_what_was_taken_and_takes_no_more() -> None:
    double = Double()

    async def job(batcher: Batcher) -> Any:
        first = await held(batcher, double)
        queued = asyncio.ensure_future(batcher.ask("a", [1]))
        await asyncio.sleep(0.01)
        stopping = asyncio.ensure_future(asyncio.to_thread(batcher.stop))
        await asyncio.sleep(0.01)
        with pytest.raises(Refused) as refused:
            await batcher.ask("a", [2])
        assert refused.value.status == 503
        double.go.set()
        await stopping
        return await asyncio.gather(first, queued)

    assert ask(double, job) == [[0], [2]]


# ---- with a run, over HTTP


def test_answers_of_a_batch_are_those_of_each_alone(run: Run) -> None:
    spy, count = Spy(run, seconds=0.2), 24
    sources = ["abcde"[: 1 + n % 5] * (1 + n % 3) for n in range(count)]
    expected = [run.predict(source) for source in sources]
    with serving([Model("spy", spy)], Limits(batch=16)) as service:
        found = together(count, lambda number: service.predict(sources[number]))
        assert service.metric("regard_batch_sources_sum") == count
        assert service.metric("regard_batch_sources_count") == len(spy.batches)
    assert len(spy.batches) < count / 2
    assert max(map(len, spy.batches)) <= 16
    assert sorted(source for batch in spy.batches for source in batch) == sorted(sources)
    for one, other in zip(found, expected, strict=True):
        assert (one["source"], one["output"]) == (other.source, other.output)
        assert one["log_probability"] == pytest.approx(other.log_probability, abs=1e-5)
        assert np.allclose(one["attention"], other.attention, atol=1e-5)


def test_other_options_go_into_another_batch(run: Run) -> None:
    spy = Spy(run, seconds=0.2)
    options: list[dict[str, Any]] = [{"beam": 1}, {"beam": 4}, {"beam": 4, "nbest": 2}, {"prefix": ["A"]}]
    with serving([Model("spy", spy)]) as service:
        found = together(12, lambda number: service.predict("abc", **options[number % 4]))
    for number, one in enumerate(found):
        assert one["output"] == run.predict("abc", **options[number % 4]).output
        assert len(one.get("nbest", [])) == (2 if number % 4 == 2 else 0)
    seen = {(call.get("beam"), call["nbest"], call["prefix"]) for call in spy.options}
    assert seen == {(1, 0, ""), (4, 0, ""), (4, 2, ""), (1, 0, ("A",))}


def test_a_failure_is_its_own_askers_alone_and_stays_in_one_line_of_the_log(run: Run) -> None:
    with serving([Model("spy", Spy(run, seconds=0.1, poison="eee"))]) as service:
        sources = ["abc", "eee", "cba", "bcd"]
        found = together(4, lambda number: service.post("/v1/predict", {"source": sources[number]}))
        assert [one.status_code for one in found] == [200, 500, 200, 200]
        error = trouble(found[1], 500)
        assert "poison" not in found[1].text
    lines = [line for line in service.log if error["request_id"] in line]
    assert len(lines) == 2  # what happened, and the request
    assert "ZeroDivisionError: poison\\nin eee" in lines[0]


def test_a_client_that_leaves_does_not_keep_the_worker_busy(run: Run) -> None:
    spy = Spy(run, seconds=0.3)
    with serving([Model("spy", spy)], Limits(batch=1)) as service:
        body = b'{"sources": ["a", "b", "c", "d", "e"]}'
        head = b"POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        leave(service, head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert service.predict("abc")["output"] == "C B A"
        assert service.metric('regard_requests_total{route="/v1/predict",status="499"}') == 1
    assert len(spy.batches) <= 3  # at most one batch before it left, one while that ran, and ours
    assert spy.batches[-1] == ["abc"]


def leave(service: Service, request: bytes) -> None:
    """Ask, and hang up without waiting for the answer."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(request)
        time.sleep(0.1)
