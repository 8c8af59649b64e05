"""Examples as numbers, before they are tensors; needs no torch."""

from collections.abc import Sequence
from typing import NamedTuple


class Encoding(NamedTuple):
    """One example as numbers."""

    source: list[int]
    target: list[int]  # BEGIN … END


def length_buckets(lengths: Sequence[int], tokens: int, most: int) -> list[list[int]]:
    """Cut a list already sorted by length into batches of at most `most` examples and `tokens` padded places."""
    batches: list[list[int]] = []
    widest = 0
    for number, length in enumerate(lengths):
        widest = max(widest, length) if batches else length
        if not batches or len(batches[-1]) == most or widest * (len(batches[-1]) + 1) > tokens:
            batches.append([])
            widest = length
        batches[-1].append(number)
    return batches
