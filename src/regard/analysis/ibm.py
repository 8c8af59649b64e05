"""IBM model 1: the plainest aligner, to hold an attention model against (Brown, Della Pietra et al. 1993).

p(y | x) ∝ Π_t Σ_j p(y_t | x_j), where x_0 is the null word, which every sentence has. One round of EM:

γ_tj = p(y_t | x_j) / Σ_j' p(y_t | x_j'),    p(y | x) = Σ γ_tj over places of (x, y) / Σ γ_tj over places of x

All places (t, j) of all pairs stand in one row of numbers, so that a round is four sums over it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.words import Weights

Numbers = NDArray[np.int64]
Shares = NDArray[np.float64]
Pair = tuple[Sequence[str], Sequence[str]]  # source words, target words
NULL = 0  # the source number of the null word


class Corpus(NamedTuple):
    """Pairs as numbers; every source begins with the null word."""

    sources: list[Numbers]  # each (1 + S,)
    targets: list[Numbers]  # each (T,)

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> "Corpus":
        sources, targets = zip(*pairs, strict=True)
        return cls([np.append(NULL, one) for one in _numbered(sources, 1)], list(_numbered(targets, 0)))


def _numbered(sentences: Iterable[Sequence[str]], first: int) -> Iterable[Numbers]:
    numbers: dict[str, int] = {}
    for words in sentences:
        yield np.array([numbers.setdefault(word, len(numbers) + first) for word in words], dtype=np.int64)


class Places(NamedTuple):
    """Every (t, j) of every pair, row by row. An entry is a pair of words (x, y) that meet somewhere."""

    entry: Numbers  # (places,)
    step: Numbers  # (places,)  which target word of the whole corpus asks
    source: Numbers  # (entries,)  x of each entry

    @classmethod
    def of(cls, corpus: Corpus) -> "Places":
        span = 1 + max(int(one.max()) for one in corpus.targets)
        both = list(zip(corpus.sources, corpus.targets, strict=True))
        cells = np.concatenate([(x[None] * span + y[:, None]).ravel() for x, y in both])
        lengths = np.concatenate([np.full(len(y), len(x)) for x, y in both])
        entries, entry = np.unique(cells, return_inverse=True)
        return cls(entry, np.repeat(np.arange(len(lengths)), lengths), entries // span)

    def expected(self, chances: Shares) -> Shares:
        """γ, given p(y | x) of each entry."""
        asked = chances[self.entry]  # (places,)
        return asked / np.bincount(self.step, asked)[self.step]

    def likeliest(self, gamma: Shares) -> Shares:
        """p(y | x) of each entry, given γ."""
        together = np.bincount(self.entry, gamma, len(self.source))  # (entries,)
        alone = np.bincount(self.source, together)  # (words,)
        return together / alone[self.source]


def lexicon(places: Places, rounds: int) -> Shares:
    """p(y | x) of each entry after so many rounds, from no knowledge at all."""
    chances = np.ones(len(places.source))
    for _ in range(rounds):
        chances = places.likeliest(places.expected(chances))
    return chances


def model1(pairs: Sequence[Pair], rounds: int = 5) -> list[Weights]:
    """γ of each pair, (T, 1 + S); column 0 is the null word."""
    corpus = Corpus.of(pairs)
    places = Places.of(corpus)
    return cut(places.expected(lexicon(places, rounds)), corpus)


def cut(gamma: Shares, corpus: Corpus) -> list[Weights]:
    """The long row of numbers → a table for each pair."""
    shapes = [(len(y), len(x)) for x, y in zip(corpus.sources, corpus.targets, strict=True)]
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(gamma, ends[:-1]), shapes, strict=True)]


def without_null(gamma: Weights) -> Weights:
    """(T, S) for a linker: where the null word is the heaviest, the row is zero, and the word has no link."""
    real: Weights = np.where(gamma[:, 1:].max(1, keepdims=True) > gamma[:, :1], gamma[:, 1:], 0.0)
    return real
