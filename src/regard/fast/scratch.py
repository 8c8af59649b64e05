"""Memory for what ends with the call that asks for it: weights in panels, slopes on their way to gradients.

Every call of a thread gets the same memory, which the cache still holds; memory that others had meanwhile has to be
fetched from afar before it can be written.
"""

import ctypes
import threading
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

LINE = 16  # numbers in a line of the cache
MORE = 2


class Scratch:
    """A stack of blocks: what is taken within a `with` is free again after it."""

    def __init__(self) -> None:
        self._blocks = [_block(0)]
        self._used = 0  # of the last block
        self._marks: list[tuple[int, int]] = []

    def __enter__(self) -> "Scratch":
        self._marks.append((len(self._blocks), self._used))
        return self

    def __exit__(self, *_: object) -> None:
        count, used = self._marks.pop()
        if not self._marks:  # nobody has an address in it any more: the last block, which is the largest, will do
            count, used = 0, 0
        if count < len(self._blocks):
            del self._blocks[count:-1]
            used = 0
        self._used = used

    def take(self, rows: int, size: int) -> Tensor:
        """Room (rows, size), blank or not"""
        count = rows * size
        begin = self._begin(count)
        return self._blocks[-1][begin : begin + count].view(rows, size)

    def address(self, count: int) -> int:
        """The same as a mere address, which is quicker to make"""
        begin = self._begin(count)
        return self._blocks[-1].data_ptr() + 4 * begin

    def _begin(self, count: int) -> int:
        begin, self._used = self._used, self._used + -(-count // LINE) * LINE
        if self._used > len(self._blocks[-1]):
            # room for what may come: a page that nobody writes to is no memory yet, and to move is to begin anew
            self._blocks.append(_block(MORE * sum(map(len, self._blocks), self._used - begin)))
            begin, self._used = 0, self._used - begin
        return begin


def _block(count: int) -> Tensor:
    """Of what the kernels know, whatever torch's defaults have been set to"""
    return torch.empty(count, dtype=torch.float32, device="cpu")


_threads = threading.local()


def scratch() -> Scratch:
    """This thread's."""
    try:
        own: Scratch = _threads.scratch
    except AttributeError:
        own = _threads.scratch = Scratch()
    return own


def run(kernel: Callable[..., Any], size: Callable[..., int], given: ctypes.Structure) -> Any:
    """A kernel that says how much it needs of it."""
    with scratch() as room:
        return kernel(ctypes.byref(given), room.address(size(ctypes.byref(given))))


def cut(like: Tensor, *counts: int) -> tuple[Tensor, list[int]]:
    """One piece of memory that is kept, and where its parts of so many numbers begin, each on a line of the cache"""
    kept = like.new_empty(sum(-(-count // LINE) * LINE for count in counts))
    return kept, parts(kept, *counts)


def parts(kept: Tensor, *counts: int) -> list[int]:
    """Where the parts of what was cut begin now: who keeps it for later may move it meanwhile."""
    ends = accumulate(-(-count // LINE) * LINE for count in counts)
    return [kept.data_ptr() + 4 * begin for begin in (0, *list(ends)[:-1])]
