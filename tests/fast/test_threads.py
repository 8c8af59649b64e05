"""Rows are shared out evenly, each to one thread, and every result comes back in its place."""

import threading

import pytest
import torch

from regard.fast import packed, threads


@pytest.mark.parametrize("rows", [1, 2, 15, 16, 31, 32, 33, 64, 100])
@pytest.mark.parametrize("many", [1, 2, 3, 8])
def test_every_row_once_and_in_order(rows: int, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: many)
    shares = threads.share_out(rows, lambda begin, end: list(range(begin, end)))
    assert [row for share in shares for row in share] == list(range(rows))
    assert len(shares) == max(1, min(many, rows // threads.LEAST))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_parts_run_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    meet = threading.Barrier(2, timeout=10)  # each part waits for the other: one after the other they would never end
    assert len(threads.share_out(64, lambda begin, end: meet.wait())) == 2


def test_what_fails_in_one_part_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    with pytest.raises(ZeroDivisionError):
        threads.share_out(64, lambda begin, end: 1 // (32 - begin))


@pytest.mark.parametrize(("many", "rows", "inside"), [(1, 1, True), (2, 64, True), (4, 64, True), (8, 64, False)])
def test_few_rows_for_many_threads_stay_with_torch(
    many: int, rows: int, inside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: many)
    assert packed.loops_inside(rows) == inside


def test_the_address_of_a_row() -> None:
    numbers = torch.arange(24.0).view(2, 3, 4)
    assert threads.at(numbers, 1) == numbers[1].data_ptr()
    assert threads.at(numbers, 2, 1) == numbers[0, 2].data_ptr()
    assert threads.at(None, 1) is None
