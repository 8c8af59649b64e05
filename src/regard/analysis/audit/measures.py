"""Numbers about weights and distributions, as plain functions of arrays; the last axis is what is compared.

Rankings count ties: τ is Kendall's τ-b, ρ is Spearman's over mean ranks; where either side has no order at all, as
uniform weights have none, both are 0.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NOISE = 1e-9  # what moves a log probability less than this, in double precision, has not moved it


def entropy(weights: Array) -> Array:
    """H = −Σ_j α_j ln α_j        (…, S) -> (…)"""
    total: Array = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1)
    return total


def total_variation(one: Array, other: Array) -> Array:
    """TV = ½ Σ_n |p_n − q_n|, from 0 (equal) to 1 (nothing in common)"""
    total: Array = np.abs(one - other).sum(-1) / 2
    return total


def jensen_shannon(one: Array, other: Array) -> Array:
    """JS = H(½p + ½q) − ½H(p) − ½H(q) in bits, from 0 (equal) to 1 (nothing in common)"""
    nats = entropy((one + other) / 2) - (entropy(one) + entropy(other)) / 2
    bits: Array = np.maximum(nats / np.log(2), 0)
    return bits


def kendall(one: Array, other: Array) -> Array:
    """τ = Σ_{i<j} sign(a_i − a_j) sign(b_i − b_j) / √(pairs untied in a · pairs untied in b)"""
    first, second = _signs(one), _signs(other)  # (…, S, S)
    return _cosine(first.reshape(*one.shape[:-1], -1), second.reshape(*other.shape[:-1], -1))


def spearman(one: Array, other: Array) -> Array:
    """ρ = correlation of the ranks; equals share their mean rank"""
    return _cosine(_signs(one).sum(-1), _signs(other).sum(-1))  # twice the rank, measured from the middle


def hits(weights: Array, importance: Array) -> Array:
    """1 where the heaviest place is the most important one; if k places are heaviest, the share of them that is.
    Where nothing matters there is nothing to hit."""
    heaviest = weights == weights.max(-1, keepdims=True)  # (…, S)
    highest = importance.max(-1, keepdims=True)  # (…, 1)
    hit: Array = (heaviest & (importance == highest) & (highest > 0)).sum(-1) / heaviest.sum(-1)
    return hit


def above_chance(share: float, chance: float) -> float:
    """κ = (share − chance) / (1 − chance): 0 is what guessing gives, 1 is always right"""
    return (share - chance) / (1 - chance) if chance < 1 else 0.0


def moved_by(weights: Array, places: int) -> Array:
    """α'_j = α_{j−places}, 0 where nothing comes from"""
    shifted = np.zeros_like(weights)
    if places >= 0:
        shifted[..., places:] = weights[..., : weights.shape[-1] - places]
    else:
        shifted[..., :places] = weights[..., -places:]
    return shifted


def quiet(change: Array) -> Array:
    """|change|, and 0 where it is no more than the noise of the arithmetic"""
    size: Array = np.abs(change)
    return np.where(size > NOISE, size, 0)


def _signs(numbers: Array) -> Array:
    return np.sign(numbers[..., :, None] - numbers[..., None, :])  # (…, S, S)


def _cosine(one: Array, other: Array) -> Array:
    lengths = np.sqrt((one**2).sum(-1) * (other**2).sum(-1))
    cosine: Array = (one * other).sum(-1) / np.where(lengths > 0, lengths, 1)
    return cosine
