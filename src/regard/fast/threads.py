"""Rows shared out among threads. A kernel works on one, and on rows that know nothing of each other; while it runs,
Python's lock is free for the kernel of another part.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import torch
from torch import Tensor

from regard.fast.kernels import address

LEAST = 16  # rows; with fewer a part takes as long to fetch the weights as to multiply them
T = TypeVar("T")


def share_out(rows: int, work: Callable[[int, int], T]) -> list[T]:
    """work(begin, end) for parts of so many rows, all at the same time."""
    count = parts(rows)
    if count == 1:
        return [work(0, rows)]
    borders = [rows * part // count for part in range(count + 1)]
    others = _others(os.getpid(), count - 1)
    begun = [others.submit(work, *borders[part : part + 2]) for part in range(1, count)]
    return [work(*borders[:2]), *(one.result() for one in begun)]


@cache
def _others(process: int, count: int) -> ThreadPoolExecutor:
    """So many threads besides the one that asks, kept: to make them takes longer than some loops. A fork has none of
    its parent's, and makes its own."""
    return ThreadPoolExecutor(count, f"regard-{process}")


def parts(rows: int) -> int:
    return max(1, min(torch.get_num_threads(), rows // LEAST))


def at(tensor: Tensor | None, row: int, axis: int = 0) -> int | None:
    """The address of a row, of the first step or place where rows are not the first axis."""
    begin = address(tensor)
    return None if tensor is None or begin is None else begin + row * tensor.stride(axis) * tensor.element_size()
