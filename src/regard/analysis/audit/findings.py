"""What the evidence of all examples says: means over output symbols, so that long answers count by their length."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from regard.analysis.audit.ablation import Ablation
from regard.analysis.audit.erasure import Moved
from regard.analysis.audit.evidence import Evidence
from regard.analysis.audit.measures import above_chance, entropy, hits, kendall, moved_by, quiet, spearman
from regard.analysis.audit.stability import Stability
from regard.analysis.audit.walking import Array

SHIFTS = (-1, 0, 1)
Importance = Callable[[Evidence], Array]  # -> (T, S), 0 or more: what place j is worth to y_t


class Sharpness(NamedTuple):
    entropy: float  # H = −Σ_j α_j ln α_j
    relative_entropy: float  # H / ln S
    largest: float  # max_j α_j
    effective_places: float  # exp H


class Agreement(NamedTuple):
    """Of the weights with some importance."""

    kendall: float
    spearman: float
    hits: float  # share of symbols whose heaviest place is the most important one
    above_chance: float  # κ: the same, 0 being what guessing gives


class Erased(NamedTuple):
    agreement: Agreement  # with |log p(y_t) − log p'(y_t)|
    heaviest: float  # TV when the heaviest place is erased
    others: float  # TV when another one is, in the mean


class Movement(NamedTuple):
    variation: float  # TV(p, p')
    divergence: float  # JS(p, p') in bits
    flipped: float  # share of draws in which the likeliest symbol changes


class Shift(NamedTuple):
    """Agreement if the weights stood so many places further right."""

    without_symbol: Agreement
    gradient: Agreement


class Findings(NamedTuple):
    examples: int
    symbols: int  # written, in all answers
    places: float  # S, in the mean
    chance: float  # of hitting the most important place by guessing: mean 1/S
    sharpness: Sharpness
    without_weight: Erased
    without_symbol: Erased
    gradient: Agreement
    shuffled: Movement
    uniform: Ablation
    shifts: dict[int, Shift]
    others: list[Stability]


def find(evidence: Sequence[Evidence], uniform: Ablation, others: list[Stability]) -> Findings:
    return Findings(
        len(evidence),
        sum(len(one.weights) for one in evidence),
        mean(evidence, _places),
        mean(evidence, lambda one: 1 / _places(one)),
        _sharpness(evidence),
        _erased(evidence, lambda one: one.without_weight),
        _erased(evidence, lambda one: one.without_symbol),
        agreement(evidence, by_gradient),
        Movement(
            mean(evidence, lambda one: one.shuffled.variation.mean(-1)),
            mean(evidence, lambda one: one.shuffled.divergence.mean(-1)),
            mean(evidence, lambda one: one.shuffled.flipped.mean(-1)),
        ),
        uniform,
        {places: _shift(evidence, places) for places in SHIFTS},
        others,
    )


def by_weight(one: Evidence) -> Array:
    return quiet(one.without_weight.drop)


def by_symbol(one: Evidence) -> Array:
    return quiet(one.without_symbol.drop)


def by_gradient(one: Evidence) -> Array:
    return quiet(one.gradient)


def agreement(evidence: Sequence[Evidence], importance: Importance, places: int = 0) -> Agreement:
    """How the weights, moved by so many places, agree with an importance. Any will do, also links that people drew."""

    def by(measure: Callable[[Array, Array], Array]) -> float:
        return mean(evidence, lambda one: measure(moved_by(one.weights, places), importance(one)))

    hit = by(hits)
    return Agreement(by(kendall), by(spearman), hit, above_chance(hit, mean(evidence, lambda one: 1 / _places(one))))


def mean(evidence: Sequence[Evidence], measure: Callable[[Evidence], Array]) -> float:
    return float(by_symbols(evidence, measure).mean())


def by_symbols(evidence: Sequence[Evidence], measure: Callable[[Evidence], Array]) -> Array:
    """A measure (T,) of each example, one after the other"""
    return np.concatenate([measure(one) for one in evidence])


def _places(one: Evidence) -> Array:
    return np.full(len(one.weights), float(one.weights.shape[1]))


def _sharpness(evidence: Sequence[Evidence]) -> Sharpness:
    return Sharpness(
        mean(evidence, lambda one: entropy(one.weights)),
        mean(evidence, lambda one: entropy(one.weights) / np.log(_places(one))),
        mean(evidence, lambda one: one.weights.max(-1)),
        mean(evidence, lambda one: np.exp(entropy(one.weights))),
    )


def _erased(evidence: Sequence[Evidence], moved: Callable[[Evidence], Moved]) -> Erased:
    def heaviest(one: Evidence) -> Array:
        return np.take_along_axis(moved(one).variation, one.weights.argmax(-1)[:, None], 1)[:, 0]  # (T,)

    def others(one: Evidence) -> Array:
        rest: Array = (moved(one).variation.sum(-1) - heaviest(one)) / (_places(one) - 1)
        return rest

    agreed = agreement(evidence, lambda one: quiet(moved(one).drop))
    return Erased(agreed, mean(evidence, heaviest), mean(evidence, others))


def _shift(evidence: Sequence[Evidence], places: int) -> Shift:
    return Shift(agreement(evidence, by_symbol, places), agreement(evidence, by_gradient, places))


def to_plain(tree: Any) -> Any:
    """Named tuples as dictionaries, for JSON."""
    if hasattr(tree, "_asdict"):
        return {name: to_plain(branch) for name, branch in tree._asdict().items()}
    if isinstance(tree, dict):
        return {str(name): to_plain(branch) for name, branch in tree.items()}
    return [to_plain(branch) for branch in tree] if isinstance(tree, list) else tree
