"""max(0, norm(x)) over the real places of each picture, in one node of the graph: torch goes over every number a dozen
times, forwards and backwards, which was more than half of the time of a network that learns to see writing."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.kernels import address, library, loaded
from regard.fast.switch import wanted


def norm_and_cut(data: Tensor, sizes: Tensor, g: Tensor, b: Tensor, epsilon: float) -> Tensor | None:
    """(B, C, H, W), of which sizes (B, 2) are real -> the same, 0 beyond; None where there is no kernel for it"""
    if not wanted(data) or data.dtype != torch.float32 or library() is None:
        return None
    made: Tensor = _NormAndCut.apply(data.permute(0, 2, 3, 1).contiguous(), sizes.contiguous(), g, b, epsilon)
    return made.permute(0, 3, 1, 2)


class _NormAndCut(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data: Tensor, sizes: Tensor, g: Tensor, b: Tensor, epsilon: float) -> Tensor:
        """(B, H, W, C)"""
        made, small = torch.empty_like(data), torch.tensor(epsilon, dtype=torch.float32, device="cpu")
        mean, spread = data.new_empty(2, len(data), data.size(-1)).unbind()
        tensors = (sizes, small, data, g, b, mean, spread, made)
        loaded().place_norm(torch.get_num_threads(), *data.shape, *map(address, tensors))
        ctx.save_for_backward(sizes, data, g, mean, spread, made)
        return made

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_made: Tensor) -> tuple[Tensor | None, ...]:
        sizes, data, g, mean, spread, made = ctx.saved_tensors
        into_data, into_made = torch.empty_like(data), into_made.contiguous()
        into_g, into_b = data.new_empty(2, len(data), data.size(-1)).unbind()  # of each picture
        tensors = (sizes, data, g, mean, spread, made, into_made, into_data, into_g, into_b)
        loaded().place_norm_backward(torch.get_num_threads(), *data.shape, *map(address, tensors))
        return into_data, None, into_g.sum(0), into_b.sum(0), None
