"""Do runs that differ in their seed look at the same places when they are made to write the same answer?"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.analysis.audit.evidence import Evidence
from regard.analysis.audit.measures import hits, jensen_shannon, spearman, total_variation
from regard.analysis.audit.walking import Array
from regard.answering import Answerer
from regard.data.readers import Example
from regard.errors import UsageError

BATCH = 64  # answers read at once


class Stability(NamedTuple):
    """Against one other run; means over output symbols."""

    run: str
    variation: float  # TV of the two rows of weights
    divergence: float  # JS in bits
    spearman: float  # ρ of the two rows
    same_heaviest: float  # share of symbols where both have their heaviest weight at one place


def compare(evidence: Sequence[Evidence], examples: Sequence[Example], other: Answerer) -> Stability:
    """The other run reads the same sources and is forced to write the same answers; examples are those of the
    evidence, in its order."""
    pairs = [
        pair
        for begin in range(0, len(evidence), BATCH)
        for pair in _both(evidence[begin : begin + BATCH], examples[begin : begin + BATCH], other)
    ]
    columns = [
        np.concatenate([measure(one, theirs) for one, theirs in pairs]).mean()
        for measure in (total_variation, jensen_shannon, spearman, hits)
    ]
    return Stability(str(other.path), *map(float, columns))


def _both(evidence: Sequence[Evidence], examples: Sequence[Example], other: Answerer) -> list[tuple[Array, Array]]:
    """(T, S) weights of the one run and of the other, for each answer"""
    read = other.reread(examples, [one.subject.output for one in evidence])
    pairs = []
    for one, prediction in zip(evidence, (one.prediction for one in read), strict=True):
        if prediction.attention is None:
            raise UsageError(f"{other.path} has no attention to compare with: its recipe says {_kind(other)}")
        if prediction.source_tokens != one.subject.source:
            raise UsageError(
                f"{other.path} cuts {prediction.source!r} into other symbols: compare runs trained on the same pairs"
            )
        pairs.append((one.weights, prediction.attention.astype(np.float64)))
    return pairs


def _kind(run: Answerer) -> str:
    return f"model.attention={run.recipe.model.attention}"
