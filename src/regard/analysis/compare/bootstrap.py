"""Is the difference between two recipes more than chance? Paired bootstrap over examples and seeds.

One draw takes n of the n test examples and K of the K seeds, both with replacement, and the same ones for both
recipes. Its difference is that of the two metrics over the drawn examples, each averaged over the drawn seeds:

    δ_b = 1/K Σ_k m(recipe, seed k, examples of b) − m(first recipe, seed k, examples of b)

    p = (1 + #{b: |δ_b − δ| ≥ |δ|}) / (1 + B)              two-sided; δ is the difference without any drawing

since δ_b − δ shows how far a difference strays by chance alone (Efron and Tibshirani 1993, 16; seeds are drawn beside
examples as in Sellam et al. 2022).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.compare.statistics import Counts, Statistic

SEED = 1
ROUNDING = 1e-9  # percent
HELD = 4_000_000  # drawn numbers held at once: bounds the memory

Scores = NDArray[np.float64]


class Drawn(NamedTuple):
    """A run's metric over all examples, and over those of each draw."""

    score: float
    draws: Scores  # (B,)


class Versus(NamedTuple):
    """A recipe's metric minus the first recipe's."""

    difference: float
    low: float  # 95 % of the draws lie between low and high
    high: float
    p: float
    holm: float  # p corrected for the number of recipes that were compared with the first
    seeds: int  # how many both have


def resample(statistic: Statistic, runs: Sequence[Counts], draws: int) -> list[Drawn]:
    """The metric of several runs, each counted as (n, C), over the same draws of examples."""
    parts = [[statistic.score(weights @ counts) for counts in runs] for weights in draw_examples(len(runs[0]), draws)]
    drawn = [np.concatenate(several) for several in zip(*parts, strict=True)]  # each (B,)
    return [Drawn(float(statistic.score(one.sum(0))), draw) for one, draw in zip(runs, drawn, strict=True)]


def draw_examples(size: int, draws: int) -> Iterator[NDArray[np.float64]]:
    """How often each draw takes each example, some draws at a time: (b, n)."""
    generator = np.random.default_rng(SEED)
    step = max(HELD // size, 1)
    for begin in range(0, draws, step):
        rows = min(step, draws - begin)
        taken = generator.integers(size, size=(rows, size)) + np.arange(rows)[:, None] * size  # (b, n)
        yield np.bincount(taken.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)


def draw_seeds(seeds: int, draws: int) -> NDArray[np.float64]:
    """What share of each draw each seed has: (B, K)."""
    drawn = np.random.default_rng([SEED, seeds]).multinomial(seeds, np.full(seeds, 1 / seeds), draws)
    shares: NDArray[np.float64] = drawn / seeds
    return shares


def versus(this: Mapping[int, Drawn], first: Mapping[int, Drawn]) -> Versus | None:
    """Runs by their seeds: those that both have are compared. p is not corrected yet."""
    seeds = [seed for seed in this if seed in first]
    if not seeds:
        return None
    difference = float(np.mean([this[seed].score - first[seed].score for seed in seeds]))
    of_seeds = np.stack([this[seed].draws - first[seed].draws for seed in seeds], 1)  # (B, K)
    differences = (of_seeds * draw_seeds(len(seeds), len(of_seeds))).sum(1)  # (B,)
    p = _chance(differences, difference)
    low, high = np.quantile(differences, [0.025, 0.975])
    return Versus(difference, float(low), float(high), p, p, len(seeds))


def _chance(differences: Scores, difference: float) -> float:
    """Shares of few examples often stray by exactly the difference: rounding must not decide whether they count."""
    extreme = np.abs(differences - difference) >= abs(difference) - ROUNDING
    return (1 + int(extreme.sum())) / (1 + len(differences))


def correct(tests: Sequence[Versus | None]) -> list[Versus | None]:
    """The same tests with Holm's p, for as many as there are."""
    corrected = iter(holm([one.p for one in tests if one is not None]))
    return [None if one is None else one._replace(holm=next(corrected)) for one in tests]


def holm(values: Sequence[float]) -> list[float]:
    """p of several tests, so that the chance of any false alarm stays below the level (Holm 1979)."""
    corrected, highest = list(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = highest
    return corrected
