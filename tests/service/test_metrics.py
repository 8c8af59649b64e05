"""Numbers in Prometheus' text format."""

import re

import pytest

from regard import Run
from regard.service.metrics import Counter, Histogram, Metrics
from regard.service.models import Model
from tests.service.http import serving

LINE = re.compile(
    r'(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="([^"\\\n]|\\.)*"(,[a-z]+="([^"\\\n]|\\.)*")*\})? [-+.\deInf]+)'
)


def test_a_histogram_worked_by_hand() -> None:
    sizes = Histogram("size", "Sizes.", (1, 2, 4))
    for value in (1, 1, 2, 3, 9):
        sizes.observe(value, side="in")
    assert list(sizes.lines()) == [
        'size_bucket{side="in",le="1"} 2',
        'size_bucket{side="in",le="2"} 3',
        'size_bucket{side="in",le="4"} 4',
        'size_bucket{side="in",le="+Inf"} 5',
        'size_sum{side="in"} 16',
        'size_count{side="in"} 5',
    ]


def test_labels_are_escaped_and_large_counts_exact() -> None:
    counter = Counter("n", "N.")
    counter.add(123_456_789, model='a"b\\c\nd')
    counter.add(1, model='a"b\\c\nd')
    assert list(counter.lines()) == ['n{model="a\\"b\\\\c\\nd"} 123456790']


def test_gauges_are_read_when_asked() -> None:
    metrics, waiting = Metrics(), [3]
    metrics.gauge("waiting", "Waiting.", lambda: waiting[0])
    waiting[0] = 7
    assert metrics.text().endswith("# HELP waiting Waiting.\n# TYPE waiting gauge\nwaiting 7\n")


def test_what_a_service_counts(run: Run) -> None:
    with serving([Model("reverse", run)]) as service:
        answer = service.predict("abcd")
        service.post("/v1/predict", {"source": ""})
        for number in range(3):
            service.client.get(f"/nothing/{number}")
        response = service.client.get("/metrics")
        assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert [line for line in response.text.splitlines() if not LINE.fullmatch(line)] == []
        assert response.text.endswith("\n")
        assert service.client.get("/v1/metrics").status_code == 200
        assert service.metric('regard_requests_total{route="/v1/predict",status="200"}') == 1
        assert service.metric('regard_requests_total{route="/v1/predict",status="422"}') == 1
        assert service.metric('regard_requests_total{route="other",status="404"}') == 3  # one name for all that is not
        assert service.metric('regard_request_seconds_count{route="/v1/predict"}') == 2
        assert service.metric('regard_symbols_total{model="reverse",side="source"}') == 4
        written = service.metric('regard_symbols_total{model="reverse",side="output"}')
        assert written == len(answer["output_tokens"])
        assert service.metric("regard_requests_in_hand") == 1  # this one


def test_a_counter_counts_in_threads() -> None:
    from tests.service.http import together

    counter, sizes = Counter("n", "N."), Histogram("m", "M.", (1,))

    def count(_: int) -> None:
        for _ in range(2000):
            counter.add(side="x")
            sizes.observe(1)

    together(8, count)
    assert list(counter.lines()) == ['n{side="x"} 16000']
    assert list(sizes.lines())[-1] == "m_count 16000"


@pytest.mark.parametrize("line", ["a{b=c} 1", 'a{b="c"d"} 1', "a b c", "A 1"])
def test_the_checker_of_lines_sees_mistakes(line: str) -> None:
    assert not LINE.fullmatch(line)
