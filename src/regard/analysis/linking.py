"""Weights of words → links: what a soft look means when one must say yes or no."""

from typing import Protocol

import numpy as np

from regard.analysis.words import Weights
from regard.data.links import Link
from regard.errors import UsageError


class Linker(Protocol):
    def __call__(self, weights: Weights) -> frozenset[Link]: ...  # (T, S)


def heaviest(weights: Weights) -> frozenset[Link]:
    """Every target word and the source word it looks at most; the first of equals. A row of zeros has no link."""
    return frozenset(Link(int(row.argmax()), t) for t, row in enumerate(weights) if row.any())


def mutual(weights: Weights) -> frozenset[Link]:
    """Where both agree: j is the heaviest of row t, and t is the heaviest of column j. At most one link a word."""
    return heaviest(weights) & {Link(j, t) for t, j in heaviest(weights.T)}


class Threshold:
    """All cells with at least this weight: a target word may have no link, or several."""

    def __init__(self, least: float):
        if not 0 < least <= 1:
            raise UsageError(f"threshold {least:g} came; expected a weight above 0 and at most 1, such as 0.2")
        self.least = least

    def __call__(self, weights: Weights) -> frozenset[Link]:
        return frozenset(Link(int(j), int(t)) for t, j in np.argwhere(weights >= self.least))


LINKERS: dict[str, Linker] = {"argmax": heaviest, "mutual": mutual}
