"""The same for each of many files: reading and decoding wait for the disk and release the interpreter's lock."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

MOST_THREADS = 4


def in_threads(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """`function` of each item, in their order; the first error ends it. No thread outlives the call."""
    threads = min(MOST_THREADS, os.cpu_count() or 1, len(items))
    if threads < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))
