"""Cross-entropy from the readouts on, a few rows at a time, so that logits are never held for all places at once.

The gradient of a chunk's logits, softmax − wanted, is there as soon as its loss is; taken on the spot through the
output layer, it costs no second pass, and the chunk can be forgotten.
"""

import ctypes
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.bounds import are_rows
from regard.fast.kernels import COUNT, POINTER, loaded
from regard.fast.products import fits
from regard.fast.scratch import run

WORTH = 32  # leaving padding out copies every readout, to and fro, which costs about as much as so many of its logits
CHUNK = 1 << 24  # logits held at once: 64 MiB of float32; with fewer rows the products wait for the weights


class _Told(ctypes.Structure):
    """`told` in whole.c"""

    _fields_ = (
        *((name, COUNT) for name in ("threads", "rows", "symbols", "read", "most", "padding", "learns")),
        ("smoothing", ctypes.c_double),
        ("sums", ctypes.c_double * 2),
        *((name, POINTER) for name in ("targets", "readouts", "weight", "bias")),
        *((name, POINTER) for name in ("into_readouts", "into_weight", "into_bias")),
    )


class Told(NamedTuple):
    """What losses.cross_entropy calls total, nll and symbols."""

    total: Tensor
    nll: Tensor
    symbols: Tensor


def linear_cross_entropy(
    readouts: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, padding: int, smoothing: float
) -> Told:
    """readouts (M, R), O (N, R), b (N,), targets (M,) -> that of losses.cross_entropy(O r + b)"""
    real = targets != padding
    symbols = real.sum()
    if (len(targets) - int(symbols)) * len(weight) > WORTH * len(targets):
        readouts, targets = readouts[real], targets[real]
    learns = torch.is_grad_enabled() and any(one.requires_grad for one in (readouts, weight, bias))
    asked = _Asked(readouts.contiguous(), weight, bias, targets.contiguous(), padding, smoothing, learns)
    total, nll = _LinearCrossEntropy.apply(*asked)
    return Told(total, nll, symbols)


class _Asked(NamedTuple):
    readouts: Tensor  # (M, R)
    weight: Tensor  # (N, R)
    bias: Tensor  # (N,)
    targets: Tensor  # (M,)
    padding: int
    smoothing: float
    learns: bool


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, Tensor]:
        asked = _Asked(*given)
        compiled = asked.readouts.device.type == "cpu" and fits(asked.readouts)
        tell = _tell if compiled and _in_range(asked) else _tell_plainly
        ctx.into = [torch.empty_like(one) for one in asked[:3]] if asked.learns else []
        nll, uniform = tell(asked, max(1, CHUNK // len(asked.weight)), ctx.into).unbind()
        ctx.mark_non_differentiable(nll)
        return torch.lerp(nll, uniform, asked.smoothing), nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> Any:
        """As large as the output layer, so scaled where they are, and handed over rather than copied."""
        into, ctx.into = ctx.into, None
        if into is None:
            raise RuntimeError("this loss keeps no graph: backward can go through it once")
        return *(one.mul_(gradient) for one in into), None, None, None, None


def _in_range(asked: _Asked) -> bool:
    return asked.targets.numel() == 0 or are_rows(asked.targets, len(asked.weight))


def _tell(asked: _Asked, rows: int, into: list[Tensor]) -> Tensor:
    """−Σ log p(y) and −Σ mean_n log p(n), (2,), by so many rows at a time; `into`, where it is not empty, becomes the
    gradients of the total"""
    readouts, weight, bias, targets, padding, smoothing, _ = asked
    sizes, columns = (len(readouts), *weight.shape), into[2] if into else torch.empty_like(bias)
    assert weight.is_contiguous()
    told = _Told(torch.get_num_threads(), *sizes, rows, padding, bool(into), smoothing)
    told.targets, told.readouts = targets.data_ptr(), readouts.data_ptr()
    told.weight, told.bias, told.into_bias = weight.data_ptr(), bias.data_ptr(), columns.data_ptr()
    if into:
        told.into_readouts, told.into_weight = into[0].data_ptr(), into[1].data_ptr()
    run(loaded().tell, loaded().tell_size, told)
    return readouts.new_tensor(tuple(told.sums))


def _tell_plainly(asked: _Asked, rows: int, into: list[Tensor]) -> Tensor:
    """The same by torch"""
    readouts, weight, bias, targets, padding, smoothing, _ = asked
    sums, room = readouts.new_zeros(2), readouts.new_empty(min(rows, len(readouts)), len(weight))
    for one in into[1:]:
        one.zero_()
    for begin in range(0, len(readouts), rows):
        few, wanted = readouts[begin : begin + rows], targets[begin : begin + rows]
        logits, places = room[: len(few)], wanted[:, None]  # (m, N), (m, 1)
        torch.addmm(bias, few, weight.t(), out=logits)
        real, normaliser = wanted != padding, logits.logsumexp(-1)  # (m,)
        sums[0] += (normaliser - logits.gather(1, places)[:, 0])[real].sum()
        sums[1] += (normaliser - logits.mean(-1))[real].sum()
        if into:  # the logits become the slopes
            logits.sub_(normaliser[:, None]).exp_().sub_(smoothing / logits.size(1))
            logits.scatter_add_(1, places, torch.full_like(normaliser, smoothing - 1)[:, None])
            logits *= real[:, None]
            torch.mm(logits, weight, out=into[0][begin : begin + rows])
            into[1].addmm_(logits.t(), few)
            into[2] += logits.sum(0)
    return sums
