"""No request is larger, slower or more than the service takes; and it says so."""

import dataclasses
import json
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from regard import Run
from regard.errors import UsageError
from regard.service import front
from regard.service.limits import Limits
from regard.service.models import Model
from regard.tasks.request import longest_answers
from tests.service.http import Service, Spy, serving, together, trouble

JSON = {"Content-Type": "application/json"}
HEAD = b"POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
SMALL = Limits(body=2000, sources=4, characters=300, beam=3, nbest=2, upload=0.3)


@pytest.fixture(scope="module")
def small(run: Run) -> Iterator[Service]:
    with serving([Model("reverse", run)], SMALL) as service:
        yield service


def padded(size: int) -> bytes:
    """A good request of so many bytes."""
    content = b'{"source": "abc"}'
    return content + b" " * (size - len(content))


def test_a_body_may_be_as_large_as_the_limit_and_no_larger(small: Service) -> None:
    assert small.client.post("/v1/predict", content=padded(2000), headers=JSON).status_code == 200
    error = trouble(small.client.post("/v1/predict", content=padded(2001), headers=JSON), 413)
    assert "more than 2,000 bytes" in error["message"]
    assert small.metric('regard_requests_total{route="/v1/predict",status="413"}') >= 1


def test_a_stream_without_a_length_is_counted_as_it_comes(small: Service) -> None:
    def chunks(size: int) -> Iterator[bytes]:
        whole = padded(size)
        yield from (whole[place : place + 100] for place in range(0, size, 100))

    assert small.client.post("/v1/predict", content=chunks(2000), headers=JSON).status_code == 200
    response = small.client.post("/v1/predict", content=chunks(200_000), headers=JSON)
    assert "content-length" not in response.request.headers
    trouble(response, 413)


def test_a_stream_without_an_end_is_not_read_to_its_end(small: Service) -> None:
    """Nothing is sent after what is too much, and the answer comes all the same."""
    start = b"%x\r\n%s\r\n" % (3000, padded(3000))
    answer = first_line(small, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + start)
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_an_announced_length_that_is_too_large_is_refused_at_once(small: Service) -> None:
    assert first_line(small, HEAD + b"Content-Length: 99999999999\r\n\r\n").startswith(b"HTTP/1.1 413 ")


def first_line(service: Service, request: bytes) -> bytes:
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(request)
        return connection.makefile("rb").readline()


def test_bytes_in_hand_are_counted_together(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "HELD", 3000)
    with serving([Model("reverse", run)], Limits(body=5000)) as service:
        host, port = service.url.removeprefix("http://").split(":")
        assert service.client.post("/v1/predict", content=padded(5000), headers=JSON).status_code == 200  # alone
        with socket.create_connection((host, int(port)), timeout=20) as slow:
            slow.sendall(HEAD + b"Content-Length: 4000\r\n\r\n" + padded(2000))
            wait_until(lambda: service.metric("regard_requests_in_hand") == 2)  # this one, and who asks
            refused = service.client.post("/v1/predict", content=padded(1500), headers=JSON)
            assert "2,000 bytes are in hand" in trouble(refused, 429)["message"]
            assert refused.headers["retry-after"] == "1"
            assert service.client.post("/v1/predict", content=padded(500), headers=JSON).status_code == 200
        wait_until(lambda: service.metric("regard_requests_in_hand") == 1)
        assert service.client.post("/v1/predict", content=padded(1500), headers=JSON).status_code == 200


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_request_for_too_many_weights_is_refused_before_it_is_computed(run: Run) -> None:
    spy = Spy(run)
    each = 5 * longest_answers([range(5)], run.recipe.search)[0]  # of five symbols, with a beam of 1
    with serving([Model("reverse", spy)], Limits(weights=12 * each)) as service:
        post = service.post
        assert post("/v1/predict", {"source": "abcde", "beam": 12}).status_code == 200
        assert post("/v1/predict", {"sources": ["abcde"] * 3, "beam": 4, "nbest": 1}).status_code == 200
        asked = len(spy.batches)
        error = trouble(post("/v1/predict", {"source": "abcde", "beam": 13}), 413)
        assert f"{13 * each:,} attention weights" in error["message"]
        trouble(post("/v1/predict", {"sources": ["abcde"] * 3, "beam": 5}), 413)
        trouble(post("/v1/predict", {"source": "abcde", "beam": 5, "nbest": 4}), 413)  # to send
        trouble(post("/v1/predict", {"source": "abcde", "prefix": ["A"] * 5000}), 413)
        assert len(spy.batches) == asked


def test_a_beam_nobody_asked_for_is_limited_too(run: Run) -> None:
    with serving([Model("reverse", run)], Limits(beam=2, nbest=32)) as service:
        error = trouble(service.post("/v1/predict", {"source": "abc", "nbest": 20}), 422)
        assert "needs a beam of 20" in error["message"]
        assert service.post("/v1/predict", {"source": "abc", "nbest": 2}).status_code == 200
    wide = dataclasses.replace(run.recipe, search=dataclasses.replace(run.recipe.search, beam=9))
    spy = Spy(Run(run.path, wide, run.codec, run.models))
    with serving([Model("reverse", spy)], Limits(beam=2)) as service:
        assert service.post("/v1/predict", {"source": "abc"}).status_code == 200
    assert spy.options[-1]["beam"] == 2


def test_a_given_answer_has_its_weights_counted(run: Run) -> None:
    with serving([Model("reverse", run)], Limits(weights=4 * 5 * 6)) as service:
        asked = {"source": "abcde", "target": "A B C D E"}
        assert service.post("/v1/force", asked).status_code == 200
        longer = {"source": "abcde", "target": "A B C D E A"}
        for path in ("/v1/force", "/v1/picture"):
            assert "attention weights" in trouble(service.post(path, longer), 413)["message"]


def test_a_batch_holds_no_more_weights_than_a_request(run: Run) -> None:
    spy = Spy(run, seconds=0.2)
    each = 5 * longest_answers([range(5)], run.recipe.search)[0]
    limits = Limits(weights=4 * each, wait=0.1)
    with serving([Model("reverse", spy)], limits) as service:
        responses = together(12, lambda _: service.post("/v1/predict", {"source": "abcde", "beam": 1}))
    assert [one.status_code for one in responses] == [200] * 12
    assert sum(map(len, spy.batches)) == 12
    assert max(map(len, spy.batches)) <= 4


def test_a_body_that_comes_too_slowly(small: Service) -> None:
    started = time.monotonic()
    answer = small.raw(HEAD + b"Content-Length: 100\r\n\r\n", b'{"source"')  # and no more
    assert time.monotonic() - started < 10
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in head.lower()
    assert "within 0.3 seconds" in json.loads(body)["error"]["message"]


@pytest.mark.parametrize(
    ("path", "content", "status", "said"),
    [
        ("predict", {"sources": ["a"] * 5}, 413, "5 sources came; this service takes at most 4"),
        ("predict", {"source": "a" * 301}, 413, "a text of 301 characters came; this service takes at most 300"),
        ("predict", {"sources": ["a", "a" * 301]}, 413, "301 characters"),
        ("predict", {"source": "a", "prefix": ["A" * 100] * 4}, 413, "400 characters"),
        ("force", {"source": "a", "target": "A" * 301}, 413, "301 characters"),
        ("choices", {"source": "a" * 301}, 413, "301 characters"),
        ("picture", {"source": "a" * 301, "target": []}, 413, "301 characters"),
        ("predict", {"source": "a", "beam": 4}, 422, "beam 4 came; this service takes at most 3"),
        ("predict", {"source": "a", "nbest": 3}, 422, "nbest 3 came; this service takes at most 2"),
    ],
)
def test_what_is_too_much_of_one_thing(small: Service, path: str, content: object, status: int, said: str) -> None:
    assert said in trouble(small.post(f"/v1/{path}", content), status)["message"]


def test_a_source_longer_than_the_run_reads(service: Service, run: Run) -> None:
    longest = run.recipe.data.longest
    error = trouble(service.post("/v1/predict", {"sources": ["abc", "a" * (longest + 1)]}), 413)
    assert f"the source has {longest + 1:,} symbols, this model reads at most {longest:,}" in error["message"]
    target = ["A"] * (2 * longest + 11)  # the longest answer there can be has one less
    assert "the target has" in trouble(service.post("/v1/force", {"source": "a", "target": target}), 413)["message"]
    assert service.post("/v1/force", {"source": "a", "target": target[1:]}).status_code == 200


def test_a_picture_that_is_too_large_to_draw_here(service: Service) -> None:
    asked = {"source": "a" * 1000, "target": ["A"] * 251}
    assert "251,000 weights" in trouble(service.post("/v1/picture", asked), 413)["message"]


def test_no_answer_in_time(run: Run) -> None:
    spy = Spy(run, seconds=0.5)
    with serving([Model("slow", spy)], Limits(seconds=0.1)) as service:
        error = trouble(service.post("/v1/predict", {"source": "abc"}), 504)
        assert "within 0.1 seconds" in error["message"]
        assert service.metric("regard_queue_sources") == 0
        assert service.client.get("/health").status_code == 200


def test_overload_is_refused_and_everything_else_answered(run: Run) -> None:
    spy = Spy(run, seconds=0.3)
    with serving([Model("slow", spy)], Limits(queue=8, sources=8, batch=4)) as service:
        found = together(40, lambda number: service.post("/v1/predict", {"source": "abc"}))
        refused = [one for one in found if one.status_code == 429]
        answered = [one for one in found if one.status_code == 200]
        assert len(refused) + len(answered) == 40
        assert len(answered) >= 8
        assert refused
        for one in refused:
            assert int(one.headers["retry-after"]) >= 1
            trouble(one, 429)
        assert {one.json()["predictions"][0]["output"] for one in answered} == {"C B A"}
        assert service.predict("abcd")["output"] == "D C B A"  # as if nothing had been


def test_a_page_can_be_had_while_the_queue_is_full(run: Run) -> None:
    with serving([Model("slow", Spy(run, seconds=0.5))], Limits(queue=1, sources=1)) as service:

        def visit(number: int) -> int:
            if number < 4:
                return int(service.post("/v1/predict", {"source": "abc"}).status_code)
            time.sleep(0.1)
            return int(service.client.get("/").status_code)

        *asked, page = together(5, visit)
        assert 429 in asked
        assert page == 200


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(body=0), "--body 0"),
        (Limits(seconds=float("nan")), "--seconds nan"),
        (Limits(wait=-1.0), "--wait -1.0"),
        (Limits(queue=10, sources=11), "--queue 10 has no room for one request of --sources 11"),
    ],
)
def test_limits_that_make_no_sense(limits: Limits, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        limits.check()
