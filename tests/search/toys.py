"""Toy models whose every number can be had a second time in plain Python.

p(y_t | y_<t, source) is a random table over t and the last two symbols; no two answers tie. The weights are a
function of the source and of all that was written, so that a row of another hypothesis, step or source shows.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.search import Hypothesis, Limits, StepOutput

PAD, BEGIN, END, UNKNOWN = range(4)
FORBIDDEN = (PAD, BEGIN, UNKNOWN)
MOST = 11  # places that the tables know


class Inner(NamedTuple):
    place: Tensor  # (R,)
    previous: Tensor  # (R,)
    nothing: None


class State(NamedTuple):
    inner: Inner
    trail: Tensor  # (R,)  all symbols so far as one number
    source: Tensor  # (R,)  must always agree with the sources handed in


class Toy:
    def __init__(self, seed: int, sources: int = 1, letters: int = 3, places: int = 5, sharpness: float = 1.5):
        random = np.random.default_rng(seed)
        self.symbols = 4 + letters
        logits = random.normal(size=(sources, MOST, *[self.symbols] * 3)) * sharpness
        self.table = logits - np.log(np.exp(logits).sum(-1, keepdims=True))  # (B, MOST, N, N, N)
        self.mask = np.arange(places) < random.integers(2, places + 1, size=(sources, 1))  # (B, S)
        self.first = 0  # the number by which the weights know the first source
        self.rows: list[Tensor] = []  # the sources of every call

    @property
    def letters(self) -> range:
        return range(4, self.symbols)

    def only(self, source: int) -> "Toy":
        """The same model when that source is alone."""
        alone = Toy(0, letters=self.symbols - 4)
        alone.table, alone.mask = self.table[[source]], self.mask[[source]]
        alone.first = source
        return alone

    def start(self) -> State:
        zeros = torch.zeros(len(self.table), dtype=torch.long)
        return State(Inner(zeros, zeros, None), zeros, torch.arange(len(self.table)))

    def step(self, tokens: Tensor, state: State, sources: Tensor) -> StepOutput:
        assert torch.equal(state.source, sources), "the state of a row and its source have parted"
        self.rows.append(sources)
        place, previous, _ = state.inner
        log_probs = torch.from_numpy(self.table)[sources, place, previous, tokens]  # (R, N)
        trail = state.trail * self.symbols + tokens
        weights = torch.from_numpy(
            np.stack([self._look(s, t) for s, t in zip(sources.tolist(), trail.tolist(), strict=True)])
        )
        return StepOutput(log_probs, weights, State(Inner(place + 1, tokens, None), trail, state.source))

    def _look(self, source: int, trail: int) -> np.ndarray:
        energy = 2 * np.sin(trail % 9973 * (1.0 + np.arange(self.mask.shape[1])) + source + self.first)
        weights = np.exp(energy) * self.mask[source]
        return weights / weights.sum()

    def row(self, source: int, written: list[int]) -> np.ndarray:
        """log p (N,) of what follows; −∞ for what is never written."""
        row = self.table[(source, len(written), *[PAD, BEGIN, *written][-2:])].copy()
        row[list(FORBIDDEN)] = -np.inf
        return row

    def log_prob(self, source: int, tokens: list[int], ended: bool) -> float:
        path = [PAD, BEGIN, *tokens, *[END] * ended]
        return float(sum(self.table[(source, t, *path[t : t + 3])] for t in range(len(path) - 2)))

    def weights(self, source: int, tokens: list[int]) -> np.ndarray:
        """(T, S), worked out from the written symbols alone."""
        rows, trail = [], 0
        for token in [BEGIN, *tokens[:-1]][: len(tokens)]:
            trail = trail * self.symbols + token
            rows.append(self._look(source, trail))
        return np.array(rows).reshape(len(tokens), self.mask.shape[1])

    def score(self, source: int, tokens: list[int], ended: bool, length: float, coverage: float = 0.0) -> float:
        size = max(len(tokens) + ended, 1)
        read = self.weights(source, tokens).sum(0)  # (S,)
        unread = sum(math.log(min(max(r, 1e-4), 1)) for r, real in zip(read, self.mask[source], strict=True) if real)
        return self.log_prob(source, tokens, ended) / size**length + coverage * unread

    def best(self, source: int, longest: int, length: float, coverage: float = 0.0) -> list[tuple[float, list[int]]]:
        """All strings of letters up to the longest, best first."""
        strings = (list(y) for n in range(longest + 1) for y in itertools.product(self.letters, repeat=n))
        return sorted(((self.score(source, y, True, length, coverage), y) for y in strings), reverse=True)


def limits(longest: list[int], **others: object) -> Limits:
    return Limits(longest, begin=BEGIN, end=END, forbidden=FORBIDDEN, **others)


def same(found: Hypothesis, expected: Hypothesis) -> bool:
    """Equal but for rounding."""
    return (
        found.tokens == expected.tokens
        and found.finished == expected.finished
        and math.isclose(found.score, expected.score, rel_tol=1e-9, abs_tol=1e-9)
        and math.isclose(found.log_prob, expected.log_prob, rel_tol=1e-9, abs_tol=1e-9)
        and np.allclose(found.weights, expected.weights, rtol=1e-9, atol=1e-12)
    )
