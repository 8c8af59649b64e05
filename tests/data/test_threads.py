"""Many files at once, in their order."""

import threading

import pytest

from regard.data.threads import in_threads


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_are_in_order(count: int) -> None:
    assert in_threads(lambda number: number * number, range(count)) == [number * number for number in range(count)]


def test_an_error_arrives_and_no_thread_stays() -> None:
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda number: 1 // number, [3, 2, 1, 0, 5])
    assert threading.active_count() == before
