"""The hidden Markov model of alignment: a word is likely aligned near the one before (Vogel, Ney and Tillmann 1996).

p(y, a | x) = Π_t p(a_t | a_{t−1}) p(y_t | x_{a_t}),    p(j | i) ∝ 1 + expected jumps of length j − i

A null word does not forget where its neighbour stood (Och and Ney 2003): with probability NULL_SHARE the next word is
aligned to nothing, and the place i is kept for the one after it. The first word may be aligned to any place alike.
Forward and backward sums run over many pairs at once; the lexicon begins as that of model 1.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.ibm import Corpus, Numbers, Pair, Places, Shares, cut, lexicon
from regard.analysis.words import Weights

NULL_SHARE = 0.2
REACH = 100  # longer jumps count as this long
TINY = 1e-300
TOGETHER = 64  # pairs


class Tables(NamedTuple):
    """p(y_t | x_j) of some pairs; column 0 is the null word, and everything beyond a pair's ends is zero."""

    null: Shares  # (B, T, 1)
    real: Shares  # (B, T, S)
    steps: NDArray[np.bool_]  # (B, T)  which are there
    places: NDArray[np.bool_]  # (B, S)

    @classmethod
    def of(cls, emissions: Sequence[Weights]) -> "Tables":
        counts = np.array([table.shape for table in emissions])  # (B, 2)
        longest = counts.max(0)
        padded = np.zeros((len(emissions), *longest))
        for row, table in zip(padded, emissions, strict=True):
            row[: table.shape[0], : table.shape[1]] = table
        there = [np.arange(most) < counts[:, [axis]] for axis, most in enumerate(longest)]
        return cls(padded[:, :, :1], padded[:, :, 1:], there[0], there[1][:, 1:])


class Walked(NamedTuple):
    gamma: Shares  # (B, T, 1 + S)  p(a_t = j | x, y); column 0 is the null word
    jumps: Shares  # (2 REACH + 1,)  expected jumps of each length


def hmm(pairs: Sequence[Pair], rounds: int = 5, lexicon_rounds: int = 5) -> list[Weights]:
    """p(a_t = j | x, y) of each pair, (T, 1 + S); column 0 is the null word."""
    corpus = Corpus.of(pairs)
    places = Places.of(corpus)
    chances, jumps = lexicon(places, lexicon_rounds), np.zeros(2 * REACH + 1)
    for _ in range(rounds):
        gammas, jumps = _round(cut(chances[places.entry], corpus), jumps)
        chances = places.likeliest(np.concatenate([gamma.ravel() for gamma in gammas]))
    return _round(cut(chances[places.entry], corpus), jumps)[0]


def _round(emissions: Sequence[Weights], jumps: Shares) -> tuple[list[Weights], Shares]:
    """γ of every pair, and the jumps of all."""
    found: dict[int, Weights] = {}
    counted = np.zeros_like(jumps)
    for numbers in _groups(emissions):
        walked = walk(Tables.of([emissions[number] for number in numbers]), jumps)
        counted += walked.jumps
        for number, gamma in zip(numbers, walked.gamma, strict=True):
            steps, places = emissions[number].shape
            found[number] = gamma[:steps, :places]
    return [found[number] for number in range(len(emissions))], counted


def _groups(emissions: Sequence[Weights]) -> Iterator[list[int]]:
    """Pairs of about one size, some at once."""
    order = sorted(range(len(emissions)), key=lambda number: emissions[number].shape)
    yield from (order[start : start + TOGETHER] for start in range(0, len(order), TOGETHER))


def walk(tables: Tables, jumps: Shares) -> Walked:
    """A state is the last real place, and whether the word itself is aligned to it (first) or to null (second)."""
    moves = _moves(tables.places, jumps)  # (B, S, S)  from i to j
    ahead, scale = _forward(tables, moves)  # (B, T, 2, S), (B, T)
    behind = _backward(tables, moves, scale)  # (B, T, S)
    both = ahead * behind[:, :, None]
    both = both / np.maximum(both.sum((2, 3), keepdims=True), TINY)
    gamma = np.concatenate([both[:, :, 1].sum(-1, keepdims=True), both[:, :, 0]], -1)
    arriving = tables.real[:, 1:] * behind[:, 1:] * tables.steps[:, 1:, None] / scale[:, 1:, None]  # (B, T − 1, S)
    leaving = ahead[:, :-1].sum(2)  # (B, T − 1, S)
    expected = (1 - NULL_SHARE) * moves * np.einsum("bti,btj->bij", leaving, arriving)  # (B, S, S)
    counted = np.bincount(_jumps(moves.shape[1]).ravel(), expected.sum(0).ravel(), len(jumps))
    return Walked(gamma, counted.astype(np.float64))


def _moves(places: NDArray[np.bool_], jumps: Shares) -> Shares:
    """p(j | i) over the places that a pair has."""
    chances = (1 + jumps)[_jumps(places.shape[1])] * places[:, None]  # (B, S, S)
    moves: Shares = chances / chances.sum(-1, keepdims=True)
    return moves


def _jumps(places: int) -> Numbers:
    """Which jump leads from i to j."""
    steps: Numbers = np.arange(places)[None] - np.arange(places)[:, None]
    return steps.clip(-REACH, REACH) + REACH


def _forward(tables: Tables, moves: Shares) -> tuple[Shares, Shares]:
    """p(state at t | y_1 … y_t), and what each step had to be divided by."""
    before = tables.places / tables.places.sum(1, keepdims=True)  # (B, S)
    arrived, ahead, scale = before, [], []
    for t in range(tables.real.shape[1]):
        aligned = (1 - NULL_SHARE) * arrived * tables.real[:, t]  # (B, S)
        now = np.stack([aligned, NULL_SHARE * before * tables.null[:, t]], 1)  # (B, 2, S)
        scale.append(np.maximum(now.sum((1, 2)), TINY))  # (B,)
        ahead.append(now / scale[-1][:, None, None])
        before = ahead[-1].sum(1)
        arrived = np.einsum("bi,bij->bj", before, moves)
    return np.stack(ahead, 1), np.stack(scale, 1)


def _backward(tables: Tables, moves: Shares, scale: Shares) -> Shares:
    """p(y_{t+1} … | state at t), divided likewise; 1 at a pair's last word, where nothing is to come."""
    behind = [np.ones(tables.places.shape)]  # (B, S)
    for t in range(tables.real.shape[1] - 1, 0, -1):
        onward = (1 - NULL_SHARE) * np.einsum("bij,bj->bi", moves, tables.real[:, t] * behind[-1])
        onward = (onward + NULL_SHARE * tables.null[:, t] * behind[-1]) / scale[:, t, None]
        behind.append(np.where(tables.steps[:, t, None], onward, 1.0))
    return np.stack(behind[::-1], 1)
