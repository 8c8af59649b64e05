"""Attention over attention: how much each word of a question counts is itself attended (Cui et al. 2016)."""

from typing import NamedTuple

from torch import Tensor

from regard.attention.both import both_ways
from regard.attention.memory import Encoded


class Over(NamedTuple):
    """M places of the passage, N of the question."""

    weights: Tensor  # (B, N, M)  α(j): where word j of the question looks in the passage
    importance: Tensor  # (B, N)  β: how much that word counts
    places: Tensor  # (B, M)  s: what both say of each place; sums to 1


def attend_over(passage: Encoded, question: Encoded) -> Over:
    """M(i, j) = h_i · q_j,   α(j) = softmax of column j over the passage,   β(i) = softmax of row i over the question,
    β = mean_i β(i),   s = Σ_j α(j) β_j            Cui et al. 2016, 3"""
    energy = passage.values @ question.values.transpose(1, 2)  # (B, M, N)
    over_passage, over_question = both_ways(energy, passage.mask, question.mask)  # (B, N, M), (B, M, N)
    count = passage.mask.sum(1, keepdim=True).clamp(min=1)  # (B, 1)  padding reads nothing: its rows are 0
    importance = over_question.sum(1) / count  # (B, N)
    places = (importance[:, None] @ over_passage)[:, 0]  # (B, M)
    return Over(over_passage, importance, places)
