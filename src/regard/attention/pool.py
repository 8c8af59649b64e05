"""A sequence of vectors → one vector: by where the encoder ended, by all places alike, or by learned queries.

All are built as Name(value_size, size, rows) and called as pool(values, mask, summary), or on what
an encoder returned by `pooled(pool, encoded)`. `pool.rows` says how many rows of weights
there are to see; 0: the pool looks nowhere in particular. `pool.size` is the size of the vector.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.attention.softmax import masked_softmax


class Pooled(NamedTuple):
    vector: Tensor  # (…, P)
    weights: Tensor  # (…, R, S)  each row sums to 1 over real places; R = 0 where there are none to see


class Pool(Protocol):
    """Leading axes are free: a batch of sequences, or of documents of sentences."""

    size: int  # P
    rows: int  # R

    def __call__(self, values: Tensor, mask: Tensor, summary: Tensor | None = None) -> Pooled: ...


class LastPool(nn.Module):
    """The encoder's summary, where each direction has read all; without one, the value at each sequence's true end."""

    rows = 0

    def __init__(self, value_size: int, size: int, rows: int):
        super().__init__()
        self.size = value_size

    def forward(self, values: Tensor, mask: Tensor, summary: Tensor | None = None) -> Pooled:
        if summary is None:
            last = (mask.sum(-1) - 1).clamp(min=0)[..., None, None]  # (…, 1, 1)
            summary = values.take_along_dim(last, -2)[..., 0, :]  # (…, V)
        return Pooled(summary, _unseen(values))


class MeanPool(nn.Module):
    """Σ_j h_j / S over real places"""

    rows = 0

    def __init__(self, value_size: int, size: int, rows: int):
        super().__init__()
        self.size = value_size

    def forward(self, values: Tensor, mask: Tensor, summary: Tensor | None = None) -> Pooled:
        total = values.masked_fill(~mask[..., None], 0).sum(-2)  # (…, V)
        return Pooled(total / mask.sum(-1, keepdim=True).clamp(min=1), _unseen(values))


class MaxPool(nn.Module):
    """max_j h_j over real places, number by number            Collobert and Weston 2008"""

    rows = 0

    def __init__(self, value_size: int, size: int, rows: int):
        super().__init__()
        self.size = value_size

    def forward(self, values: Tensor, mask: Tensor, summary: Tensor | None = None) -> Pooled:
        highest = values.masked_fill(~mask[..., None], torch.finfo(values.dtype).min).amax(-2)  # (…, V)
        return Pooled(highest.masked_fill(~mask.any(-1, keepdim=True), 0), _unseen(values))


class AttentionPool(nn.Module):
    """u_j = tanh(W h_j + b),   α = softmax_j u_j · u,   Σ_j α_j h_j            Yang et al. 2016, 2.2

    The query u is learned: which words, or sentences, have something to say about the class.
    """

    rows = 1

    def __init__(self, value_size: int, size: int, rows: int):
        super().__init__()
        self.size = value_size
        self.W = nn.Linear(value_size, size)
        self.u = nn.Linear(size, 1, bias=False)

    def forward(self, values: Tensor, mask: Tensor, summary: Tensor | None = None) -> Pooled:
        energy = self.u(self.W(values).tanh()).transpose(-1, -2)  # (…, 1, S)
        weights = masked_softmax(energy, mask[..., None, :])  # (…, 1, S)
        return Pooled((weights @ values)[..., 0, :], weights)


class StructuredPool(nn.Module):
    """A = softmax(W_2 tanh(W_1 Hᵀ)) over places, in r rows without biases;   M = A H, row after row

    Lin et al. 2017, 2.1
    """

    def __init__(self, value_size: int, size: int, rows: int):
        super().__init__()
        self.size, self.rows = rows * value_size, rows
        self.W1 = nn.Linear(value_size, size, bias=False)
        self.W2 = nn.Linear(size, rows, bias=False)

    def forward(self, values: Tensor, mask: Tensor, summary: Tensor | None = None) -> Pooled:
        energy = self.W2(self.W1(values).tanh()).transpose(-1, -2)  # (…, R, S)
        weights = masked_softmax(energy, mask[..., None, :])  # (…, R, S)
        return Pooled((weights @ values).flatten(-2), weights)  # (…, R·V)


def pooled(pool: Pool, encoded: Encoded) -> Pooled:
    """What an encoder returned, as one vector."""
    return pool(encoded.values, encoded.mask, encoded.summary)


def redundancy(weights: Tensor) -> Tensor:
    """P = ‖A Aᵀ − I‖²_F of weights (…, R, S), (…,)            Lin et al. 2017, 2.2

    Zero exactly when the rows are orthonormal; rows that sum to 1 are so only if each looks at a single place, and no
    two at the same.
    """
    alike = weights @ weights.transpose(-1, -2)  # (…, R, R)
    return (alike - torch.eye(weights.size(-2), dtype=weights.dtype, device=weights.device)).square().sum((-1, -2))


def _unseen(values: Tensor) -> Tensor:
    return values.new_zeros(*values.shape[:-2], 0, values.size(-2))  # (…, 0, S)


POOLS: dict[str, Callable[[int, int, int], Pool]] = {
    "last": LastPool,
    "mean": MeanPool,
    "max": MaxPool,
    "attention": AttentionPool,
    "structured": StructuredPool,
}
