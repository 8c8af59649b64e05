"""Dropout's masks out of random bits, in one pass instead of three."""

import torch
from torch import Tensor

from regard.fast.kernels import address, library, loaded


def keep(draws: Tensor, least: int, scale: float, dtype: torch.dtype) -> Tensor:
    """`scale` where a draw (K,), 16 random bits, is `least` or more, else 0            (K,)"""
    if dtype != torch.float32 or library() is None:
        return (draws >= least).to(dtype).mul_(scale)
    kept = torch.empty(len(draws))
    tensors = (draws, torch.tensor(scale, dtype=torch.float32), kept)
    loaded().keep_some(len(draws), least, *map(address, tensors))
    return kept
