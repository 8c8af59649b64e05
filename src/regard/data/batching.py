"""Examples → batches: rectangles grouped by length under a token budget, in an order that can be resumed."""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from regard.data.encoding import Encoding as Encoding
from regard.data.encoding import Numbers
from regard.data.encoding import length_buckets as length_buckets


class Padded(NamedTuple):
    """Sequences of unequal length in one rectangle."""

    data: Tensor  # (B, S) symbol numbers, or (B, S, E) vectors
    lengths: Tensor  # (B,)

    @property
    def mask(self) -> Tensor:
        places = torch.arange(self.data.size(1), device=self.data.device)
        return places < self.lengths[:, None]  # (B, S)  True on real places

    def to(self, device: torch.device) -> "Padded":
        return Padded(self.data.to(device), self.lengths.to(device))


class Tensors(Protocol):
    """Sources in one batch."""

    def to(self, device: torch.device) -> Any: ...


@runtime_checkable
class Joins(Protocol):
    """One source that is no list of symbols, and knows how several of its kind become tensors."""

    def join(self, several: Sequence[Any]) -> Tensors: ...


class Batch(NamedTuple):
    """What a training step reads: sources, targets framed by BEGIN and END, and which examples these are."""

    source: Any  # Tensors: Padded, where it is symbols
    target: Padded
    numbers: list[int]  # places in the training data, to name a batch that went wrong
    links: Tensor | None = None  # (B, T, S)  1 where a symbol after BEGIN is known to come from a source symbol

    def to(self, device: torch.device) -> "Batch":
        links = None if self.links is None else self.links.to(device)
        return Batch(self.source.to(device), self.target.to(device), self.numbers, links)


def pad(sequences: Sequence[Sequence[int]]) -> Padded:
    lengths = [len(sequence) for sequence in sequences]
    longest, flat = max(lengths), list[int]()
    for sequence in sequences:
        flat += [*sequence, *[0] * (longest - len(sequence))]  # PAD is 0
    # by way of numpy, which reads lists in less time than torch
    numbers, counts = (torch.from_numpy(np.array(one, dtype=np.int64)) for one in (flat, lengths))
    return Padded(numbers.view(len(lengths), longest), counts)


def join(sources: Sequence[Any]) -> Any:
    return sources[0].join(sources) if isinstance(sources[0], Joins) else pad(sources)


def collate(encodings: Sequence[Encoding], numbers: list[int]) -> Batch:
    chosen = [encodings[number] for number in numbers]
    source, target = join([one.source for one in chosen]), pad([one.target for one in chosen])
    return Batch(source, target, numbers, _links(chosen, source, target))


def _links(chosen: Sequence[Encoding], source: Any, target: Padded) -> Tensor | None:
    """Of all examples of a batch, where any has some; END, and an example without links, have none."""
    if not any(one.links for one in chosen):
        return None
    links = torch.zeros(len(chosen), target.data.size(1) - 1, source.data.size(1))  # (B, T, S)
    for row, one in enumerate(chosen):
        for t, j in one.links:
            links[row, t, j] = 1
    return links


class EpochPlan:
    """The batches of every epoch, as a pure function of (seed, epoch).

    Nothing is drawn from a global random state and nothing is remembered, so a resumed run only needs to know the epoch
    and how many batches of it are done. Within a window of `window` batches examples are sorted by length, so there is
    little padding, yet batches differ from epoch to epoch.
    """

    def __init__(self, encodings: Sequence[Numbers], tokens: int, most: int, seed: int, window: int = 200):
        self.widths = [one.width for one in encodings]
        self.sort_keys = [one.order for one in encodings]
        self.tokens, self.most, self.seed, self.window = tokens, most, seed, window

    def batches(self, epoch: int) -> list[list[int]]:
        generator = torch.Generator().manual_seed(mix(self.seed, epoch))
        order = torch.randperm(len(self.widths), generator=generator).tolist()
        batches: list[list[int]] = []
        reach = self.window * self.most
        for begin in range(0, len(order), reach):
            chunk = sorted(order[begin : begin + reach], key=self.sort_keys.__getitem__)
            cuts = length_buckets([self.widths[number] for number in chunk], self.tokens, self.most)
            batches += [[chunk[place] for place in cut] for cut in cuts]
        shuffled = torch.randperm(len(batches), generator=generator).tolist()
        return [batches[place] for place in shuffled]


def mix(*numbers: int) -> int:
    """A seed from several numbers, so that nearby seeds and epochs have unrelated orders."""
    text = ",".join(map(str, numbers)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "big")
