"""Dropout in one pass, without a mask: which numbers stay is a function of a seed and their places, so that the
backward pass drops the same ones again. With and without a compiler they are the same.

torch draws one number after the other, which was a twentieth of training.
"""

import ctypes
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.kernels import COUNT, address, library, loaded

LOW = 2**32 - 1


class Draws(ctypes.Structure):
    """What decides which numbers stay; `noise` in whole.c"""

    _fields_ = (("least", COUNT), ("low", COUNT), ("high", COUNT), ("scale", ctypes.c_float))

    @classmethod
    def of(cls, share: float) -> "Draws":
        """Drawn anew; all numbers stay where the share is 0."""
        if share == 0:
            return cls(0, 0, 0, 1.0)
        seed = _seed()
        return cls(round(share * 2**16), seed & LOW, seed >> 32, 1 / (1 - share))


def drop(vectors: Tensor, share: float) -> Tensor:
    """Each number is 0 with probability `share`, else 1 / (1 − share) of what it was; 16 bits miss it by below 1e-5."""
    dropped: Tensor = _Drop.apply(vectors, share, _seed())
    return dropped


def _seed() -> int:
    return int(torch.empty((), dtype=torch.int64).random_())


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: Tensor, share: float, seed: int) -> Tensor:
        ctx.share, ctx.seed = share, seed
        return _dropped(vectors.contiguous(), share, seed)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return _dropped(gradient.contiguous(), ctx.share, ctx.seed), None, None


def _dropped(vectors: Tensor, share: float, seed: int) -> Tensor:
    least, scale = round(share * 2**16), 1 / (1 - share)
    if vectors.dtype != torch.float32 or library() is None:
        return torch.where(draws(vectors.numel(), seed) >= least, vectors.flatten() * scale, 0.0).view_as(vectors)
    dropped = torch.empty_like(vectors)
    counts = (torch.get_num_threads(), vectors.numel(), least, seed & LOW, seed >> 32)
    loaded().drop(*counts, *map(address, (_number(scale), vectors, dropped)))
    return dropped


@cache
def _number(value: float) -> Tensor:
    """Kept: a tensor takes some microseconds to make."""
    return torch.tensor(value, dtype=torch.float32, device="cpu")


def draws(count: int, seed: int) -> Tensor:
    """16 bits (count,) for each place: the first half has the lower ones of what the places were mixed to, the second
    the upper ones. Every bit of place and seed changes half of the others', by products with odd numbers and shifts."""
    mixed = torch.arange(-(-count // 2)) ^ (seed & LOW)
    mixed = _stir(mixed, 16, 0x7FEB352D)
    mixed = _stir(mixed + (seed >> 32) & LOW, 15, 0x846CA68B)
    mixed = _stir(mixed, 16, 0x9E3779B1)
    mixed ^= mixed >> 15
    return torch.cat([mixed & 0xFFFF, mixed >> 16])[:count]


def _stir(numbers: Tensor, shift: int, factor: int) -> Tensor:
    return (numbers ^ (numbers >> shift)) * factor & LOW
