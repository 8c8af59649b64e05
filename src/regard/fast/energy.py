"""Additive energies without a tanh per pair:  tanh(k + q) = 1 − 2 / (1 + e^{2k} e^{2q})

e^{2k} is taken once per source and e^{2q} once per step; each pair then costs one multiply-add, one reciprocal and its
part of the product with v. Nothing of the size of all pairs is kept for the backward pass: it is cheaper to make again.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.gathering import Store
from regard.fast.kernels import address, library, loaded
from regard.fast.switch import wanted

REACH = 20.0  # e^{2·20} e^{2·20} is still a float32, and tanh of what is lost beyond is ±1


class Grown(NamedTuple):
    """Keys ready for comparison."""

    keys: Tensor  # (B, S, A)
    power: Tensor  # (B, S, A)  e^{2k}
    store: Store  # for the gradients of `attend`


def grow(keys: Tensor) -> Grown | Tensor:
    """Keys with their powers, or the keys alone where they are out of reach."""
    if not wanted(keys) or keys.numel() == 0:
        return keys
    power, far = _raised(keys.detach())
    return keys if far > REACH else Grown(keys, power, Store())


def _raised(keys: Tensor) -> tuple[Tensor, float]:
    """e^{2k} and the largest |k|"""
    if keys.dtype != torch.float32 or library() is None:
        return (2 * keys).exp_(), farthest(keys)
    keys = keys.contiguous()
    power = torch.empty_like(keys)
    return power, loaded().raise_keys(keys.numel(), address(keys), address(power))


def within_reach(query: Tensor) -> bool:
    return query.numel() > 0 and farthest(query) <= REACH


def farthest(numbers: Tensor) -> float:
    """max |x|, in one pass and without a copy; torch's infinity norm takes far longer"""
    least, most = torch.aminmax(numbers.detach())
    return max(-float(least), float(most))


def additive_energy(query: Tensor, grown: Grown, v: Tensor) -> Tensor:
    """v · tanh(q_t + k_j)            (B, T, A), (B, S, A), (A,) -> (B, T, S)"""
    energy: Tensor = _Energy.apply(query, grown.keys, grown.power, v)
    return energy


def _shares(query: Tensor, power: Tensor) -> Tensor:
    """1 / (1 + e^{2k} e^{2q})            (B, T, S, A)"""
    grown = torch.exp(2 * query)[:, :, None]  # (B, T, 1, A)
    return torch.addcmul(query.new_ones(1), power[:, None], grown).reciprocal_()


class _Energy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, keys: Tensor, power: Tensor, v: Tensor) -> Tensor:
        ctx.save_for_backward(query, power, v)
        return (_shares(query, power) @ (-2 * v)).add_(v.sum())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, Tensor]:
        query, power, v = ctx.saved_tensors
        shares = _shares(query, power)  # (B, T, S, A)
        into_v = gradient.sum() - 2 * (gradient.reshape(1, -1) @ shares.view(-1, len(v)))[0]  # Σ de (1 − 2r)
        slopes = torch.addcmul(shares, shares, shares, value=-1)  # tanh' = 4 (r − r²)
        slopes *= gradient[..., None]
        by_key = slopes[:, 0] if slopes.size(1) == 1 else slopes.sum(1)  # (B, S, A)
        return slopes.sum(2) * (4 * v), by_key * (4 * v), None, into_v
