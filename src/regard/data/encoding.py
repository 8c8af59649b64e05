"""Examples as numbers, before they are tensors; needs no torch."""

from collections.abc import Sequence
from math import log2
from typing import Any, NamedTuple, Protocol

OCTAVE = 4  # so many sizes of pictures are told apart between one and another of twice as many places


class Numbers(Protocol):
    """What batching and training ask of an example as numbers, whatever else its task made of it."""

    @property
    def length(self) -> int: ...  # symbols of its longest sequence: what data.longest bounds

    @property
    def width(self) -> int: ...  # places it takes in a batch: what training.batch_tokens bounds

    @property
    def order(self) -> tuple[int, ...]: ...  # examples that are near in this share a batch

    @property
    def counted(self) -> int: ...  # terms of its loss: symbols that are written, or 1 where one answer is chosen


class Encoding(NamedTuple):
    """One example of a task that writes sequences."""

    source: Any  # numbers of symbols, or another source (batching.Joins) with a length
    target: list[int]  # BEGIN … END
    links: tuple[tuple[int, int], ...] = ()  # (t, j): target symbol t is known to come from source symbol j

    @property
    def length(self) -> int:
        return max(len(self.source), len(self.target) - 2)

    @property
    def width(self) -> int:
        return max(len(self.source), len(self.target))

    @property
    def order(self) -> tuple[int, ...]:
        """By target, then by source to and fro: where a batch has targets of two lengths, its sources are alike.

        A source that is no list of symbols, a picture, costs more than what is written about it: by sources of about
        one size first, then by target to and fro.
        """
        target, source = len(self.target), len(self.source)
        if isinstance(self.source, list):
            return target, source if target % 2 else -source
        about = round(OCTAVE * log2(max(1, source)))
        return about, -target if about % 2 else target

    @property
    def counted(self) -> int:
        return len(self.target) - 1


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
