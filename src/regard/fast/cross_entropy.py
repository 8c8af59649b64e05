"""Cross-entropy from the readouts on, a few rows at a time, so that logits are never held for all places at once.

The gradient of a chunk's logits, softmax − wanted, is there as soon as its loss is; taken on the spot through the
output layer, it costs no second pass, and the chunk can be forgotten.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.kernels import address, loaded
from regard.fast.packed import packed
from regard.fast.products import fits, multiply

WORTH = 32  # leaving padding out copies every readout, to and fro, which costs about as much as so many of its logits
CHUNK = 1 << 24  # logits held at once: 64 MiB of float32; with fewer rows the products wait for the weights


def linear_cross_entropy(
    readouts: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, padding: int, smoothing: float
) -> tuple[Tensor, Tensor]:
    """readouts (M, R), O (N, R), b (N,), targets (M,) -> what losses.cross_entropy(O r + b) calls total and nll"""
    real = targets != padding
    padded = len(targets) - int(real.sum())
    if padded * len(weight) > WORTH * len(targets):
        readouts, targets = readouts[real], targets[real]
    total, nll = _LinearCrossEntropy.apply(readouts.contiguous(), weight, bias, targets, padding, smoothing)
    return total, nll


class _Sums(NamedTuple):
    nll: Tensor  # scalar: −Σ log p(y)
    uniform: Tensor  # scalar: −Σ mean_n log p(n)


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, readouts: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, padding: int, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        learns, columns = any(ctx.needs_input_grad[:3]), torch.zeros_like(bias)
        into = [torch.empty_like(readouts), torch.zeros_like(weight), columns] if learns else []
        sums = _Sums(*readouts.new_zeros(2))
        rows = max(1, CHUNK // len(weight))
        room = readouts.new_empty(min(rows, len(readouts)), len(weight))
        arranged = packed(weight) if readouts.device.type == "cpu" and fits(readouts) else None
        slope = _slopes if arranged is None else _compiled_slopes
        for begin in range(0, len(readouts), rows):
            part = slice(begin, begin + rows)
            logits = room[: len(targets[part])]  # (m, N)
            if arranged is None:
                torch.addmm(bias, readouts[part], weight.t(), out=logits)
            else:
                multiply(readouts[part], arranged, bias, False, into=logits)
            found = slope(logits, targets[part], padding, smoothing, columns)
            sums = _Sums(sums.nll + found.nll, sums.uniform + found.uniform)
            if learns:
                torch.mm(logits, weight, out=into[0][part])
                into[1].addmm_(logits.t(), readouts[part])
        ctx.into = into
        ctx.mark_non_differentiable(sums.nll)
        return (1 - smoothing) * sums.nll + smoothing * sums.uniform, sums.nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> Any:
        """As large as the output layer, so scaled where they are, and handed over rather than copied."""
        into, ctx.into = ctx.into, None
        if into is None:
            raise RuntimeError("this loss keeps no graph: backward can go through it once")
        return *(one.mul_(gradient) for one in into), None, None, None


def _slopes(logits: Tensor, targets: Tensor, padding: int, smoothing: float, columns: Tensor) -> _Sums:
    """Logits (m, N) become their loss's slopes, whose sum over rows is added to columns (N,)."""
    places = targets[:, None]  # (m, 1)
    real, normaliser = targets != padding, logits.logsumexp(-1)  # (m,)
    nll = (normaliser - logits.gather(1, places)[:, 0])[real].sum()
    uniform = (normaliser - logits.mean(-1))[real].sum()
    logits.sub_(normaliser[:, None]).exp_().sub_(smoothing / logits.size(1))
    logits.scatter_add_(1, places, torch.full_like(normaliser, smoothing - 1)[:, None])
    logits *= real[:, None]
    columns += logits.sum(0)
    return _Sums(nll, uniform)


def _compiled_slopes(logits: Tensor, targets: Tensor, padding: int, smoothing: float, columns: Tensor) -> _Sums:
    """The same by kernels.c, which goes over each row while it is at hand."""
    likely, mass, mean = logits.new_empty(3, len(logits)).unbind()
    numbers = torch.tensor(smoothing, dtype=logits.dtype)
    tensors = (targets.contiguous(), numbers, logits, likely, mass, mean, columns)
    loaded().softmax_slopes(*logits.shape, padding, *map(address, tensors))
    normaliser = mass.log()
    return _Sums((normaliser - likely).sum(), (normaliser - mean).sum())
