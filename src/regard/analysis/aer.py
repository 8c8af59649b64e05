"""Is attention an alignment? Measured against links that somebody else drew (Och and Ney 2003; Koehn and Knowles 2017).

A: links found, S: sure links, P: possible ones, S ⊆ P.

precision = |A ∩ P| / |A|,   recall = |A ∩ S| / |S|,   AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
match: share of the target words with a link in P whose heaviest source word is one of those linked
mass:  mean over the same words of Σ_{j linked} α_tj
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from regard.analysis.words import Weights
from regard.data.links import Link, Links

SHIFTS = (-1, 0, 1)
MARGIN = 0.1  # what a shift must gain in match before a model is called off by one


class Counts(NamedTuple):
    """What one pair adds to the sums; measures are of sums over pairs, not means of pairs."""

    found: int  # |A|
    sure: int  # |S|
    found_sure: int  # |A ∩ S|
    found_possible: int  # |A ∩ P|
    linked: int  # target words with a link in P
    matched: int
    mass: float


class Measures(NamedTuple):
    """NaN where nothing was there to divide by."""

    aer: float
    precision: float
    recall: float
    match: float
    mass: float


def count(weights: Weights, found: frozenset[Link], gold: Links) -> Counts:
    """One pair: weights (T, S), the links made of them, and the links they are held against."""
    cells = np.zeros(weights.shape, dtype=bool)  # (T, S)
    for link in gold.possible:
        cells[link.target, link.source] = True
    linked = cells.any(1)  # (T,)
    looked = weights.any(1)  # (T,)  a row of zeros looks nowhere
    matched = cells[np.arange(len(cells)), weights.argmax(1)] & looked
    return Counts(
        len(found),
        len(gold.sure),
        len(found & gold.sure),
        len(found & gold.possible),
        int(linked.sum()),
        int(matched.sum()),
        float((weights * cells).sum()),
    )


def measure(counts: Sequence[Counts]) -> Measures:
    total = Counts(*map(sum, zip(*counts, strict=True)))
    return Measures(
        1 - _share(total.found_sure + total.found_possible, total.found + total.sure),
        _share(total.found_possible, total.found),
        _share(total.found_sure, total.sure),
        _share(total.matched, total.linked),
        _share(total.mass, total.linked),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def shifted(weights: Weights, places: int) -> Weights:
    """Row t at t + places, so that it is held against the links of that target word; rows that come free are zero."""
    moved = np.zeros_like(weights)  # (T, S)
    for t in range(max(0, places), min(len(weights), len(weights) + places)):
        moved[t] = weights[t - places]
    return moved


def verdict(measured: Mapping[int, Measures]) -> str:
    """One sentence: is the model off by one?"""
    here = measured[0].match
    best = max(measured, key=lambda shift: (measured[shift].match, -abs(shift)))
    if not measured[best].match >= here + MARGIN:
        return (
            f"Not off by one: no shift brings the share of words that look at a linked word {100 * MARGIN:.0f} points "
            f"above the {100 * here:.1f} % of the rows as they are."
        )
    whose = "after" if best > 0 else "before"
    return (
        f"Off by one: {100 * measured[best].match:.1f} % of the words look at a linked word when each row is read as "
        f"that of the target word {whose} it (shift {best:+d}), but {100 * here:.1f} % as they are; "
        f"{100 * MARGIN:.0f} points would have been enough to say so."
    )
