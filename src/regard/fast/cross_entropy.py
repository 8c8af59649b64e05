"""Cross-entropy from the readouts on, a few rows at a time, so that logits are never held for all places at once.

The gradient of a chunk's logits, softmax − wanted, is there as soon as its loss is; taken on the spot through the
output layer, it costs no second pass, and the chunk can be forgotten.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 1 << 22  # logits held at once: 16 MiB of float32


def linear_cross_entropy(
    readouts: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, padding: int, smoothing: float
) -> tuple[Tensor, Tensor]:
    """readouts (M, R), O (N, R), b (N,), targets (M,) -> what losses.cross_entropy(O r + b) calls total and nll"""
    total, nll = _LinearCrossEntropy.apply(readouts, weight, bias, targets, padding, smoothing)
    return total, nll


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, readouts: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, padding: int, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        learns = any(ctx.needs_input_grad[:3])
        into = [torch.zeros_like(one) for one in (readouts, weight, bias)] if learns else []
        nll, uniform = (readouts.new_zeros(()) for _ in range(2))
        rows = max(1, CHUNK // len(weight))
        for begin in range(0, len(readouts), rows):
            part = slice(begin, begin + rows)
            real = (targets[part] != padding).to(readouts.dtype)  # (m,)
            places = targets[part, None]  # (m, 1)
            logits = torch.addmm(bias, readouts[part], weight.t())  # (m, N)
            normaliser = logits.logsumexp(-1)  # (m,)
            nll += (normaliser - logits.gather(1, places)[:, 0]) @ real
            if smoothing > 0:
                uniform += (normaliser - logits.mean(-1)) @ real
            if learns:
                slopes = logits.sub_(normaliser[:, None]).exp_().sub_(smoothing / len(weight))
                slopes.scatter_add_(1, places, torch.full_like(real, smoothing - 1)[:, None]).mul_(real[:, None])
                torch.mm(slopes, weight, out=into[0][part])
                into[1].addmm_(slopes.t(), readouts[part])
                into[2] += slopes.sum(0)
        ctx.save_for_backward(*into)
        ctx.mark_non_differentiable(nll)
        return (1 - smoothing) * nll + smoothing * uniform, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> Any:
        return *(one * gradient for one in ctx.saved_tensors), None, None, None
