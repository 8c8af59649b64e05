"""Batches made ahead are those that would have been made in time."""

import gc
import random
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
import torch

from regard.training.ahead import ahead


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.mark.parametrize("depth", [0, 1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 5, 30])
def test_the_same_as_map(depth: int, count: int) -> None:
    assert list(ahead(lambda number: number * number, range(count), depth)) == [one * one for one in range(count)]


def test_it_is_ahead_by_so_many_and_no_more() -> None:
    made: list[int] = []
    third = threading.Event()

    def make(number: int) -> int:
        made.append(number)
        if number == 2:
            third.set()
        return number

    with closing(ahead(make, range(100), depth=2)) as batches:
        assert made == []  # not before it is asked
        assert next(batches) == 0
        assert third.wait(10)
        assert made == [0, 1, 2]
        assert next(batches) == 1


def test_work_is_done_elsewhere_and_items_are_taken_here() -> None:
    places: set[threading.Thread] = set()

    def items() -> Iterator[int]:
        for number in range(5):
            places.add(threading.current_thread())
            yield number

    workers = set(ahead(lambda _: threading.current_thread(), items()))
    assert places == {threading.current_thread()}
    assert len(workers) == 1
    assert workers != places


def test_an_error_is_raised_where_its_batch_was_due() -> None:
    got: list[float] = []
    with pytest.raises(ZeroDivisionError):
        got.extend(one for one in ahead(lambda number: 1 / (3 - number), range(10), depth=5))
    batches = ahead(lambda number: 1 / (3 - number), range(10), depth=5)
    assert [next(batches) for _ in range(3)] == [1 / 3, 1 / 2, 1]
    with pytest.raises(ZeroDivisionError):
        next(batches)
    assert list(batches) == []


def test_an_error_of_the_items_is_raised_too() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyError("no more")

    with pytest.raises(KeyError):
        list(ahead(lambda number: number, items()))


def test_who_leaves_early_waits_only_for_what_was_begun() -> None:
    made: list[int] = []
    go = threading.Event()

    def make(number: int) -> int:
        made.append(number)
        if number:
            go.wait(10)
        return number

    batches = ahead(make, range(100), depth=10)
    assert next(batches) == 0
    go.set()
    batches.close()
    assert len(made) <= 11
    assert list(batches) == []


def test_one_that_is_forgotten_ends_too() -> None:
    batches = ahead(lambda number: number, range(100))
    next(batches)
    del batches
    gc.collect()


def test_no_random_number_is_drawn() -> None:
    torch.manual_seed(1)
    random.seed(1)
    before = torch.get_rng_state(), random.getstate()
    list(ahead(torch.tensor, range(10)))
    assert (torch.get_rng_state() == before[0]).all()
    assert random.getstate() == before[1]
