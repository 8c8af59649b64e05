"""LSTM and GRU steps whose gradients are written by hand: one node instead of ten, and everything by logistic
functions, since tanh x = 2 σ(2x) − 1 and torch's σ takes a third of the time of its tanh."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.kernels import address, library, loaded


def lstm(gates: Tensor, carry: Tensor) -> tuple[Tensor, Tensor]:
    """(…, 4H) in the order i, f, g, o and c_{t-1} (…, H) -> s_t, c_t; cells.LSTMCell says what they are"""
    compiled = gates.dtype == carry.dtype == torch.float32 and library() is not None
    state, after = (_CompiledLSTM if compiled else _LSTM).apply(gates, carry)
    return state, after


def gru(drive: Tensor, recurred: Tensor, before: Tensor) -> Tensor:
    """W x + b and U s + b' (…, 3H) in the order r, z, n, and s_{t-1} (…, H) -> s_t; see cells.GRUCell"""
    state: Tensor = _GRU.apply(drive, recurred, before)
    return state


def tanh(numbers: Tensor) -> Tensor:
    """Without gradients"""
    return (2 * numbers).sigmoid_().mul_(2).sub_(1)


class _LSTM(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, carry: Tensor) -> tuple[Tensor, Tensor]:
        size = carry.size(-1)
        sigmas = gates.clone()
        sigmas[..., 2 * size : 3 * size].mul_(2)
        admit, forget, half_new, emit = sigmas.sigmoid_().split(size, -1)
        new = half_new.mul(2).sub_(1)  # g = 2 σ(2x) − 1
        after = torch.addcmul(forget * carry, admit, new)
        squashed = tanh(after)
        ctx.save_for_backward(sigmas, new, carry, squashed)
        return emit * squashed, after

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_state: Tensor, into_after: Tensor) -> tuple[Tensor, Tensor]:
        sigmas, new, carry, squashed = ctx.saved_tensors
        size = carry.size(-1)
        admit, forget, _, emit = sigmas.split(size, -1)
        through = into_state * emit
        into_carry = torch.addcmul(into_after + through, through, squashed * squashed, value=-1)  # dc_t, all of it
        gradients = torch.empty_like(sigmas)
        into_admit, into_forget, into_new, into_emit = gradients.split(size, -1)
        torch.mul(into_carry, new, out=into_admit)
        torch.mul(into_carry, carry, out=into_forget)
        torch.mul(into_carry, admit, out=into_new).mul_(4)  # dg/dx = 4 σ(2x)(1 − σ(2x))
        torch.mul(into_state, squashed, out=into_emit)
        gradients.mul_(torch.addcmul(sigmas, sigmas, sigmas, value=-1))  # σ' = σ − σ²
        return gradients, into_carry.mul_(forget)


class _CompiledLSTM(torch.autograd.Function):
    """The same by kernels.c."""

    @staticmethod
    def forward(ctx: Any, driven: Tensor, carry: Tensor) -> tuple[Tensor, Tensor]:
        driven, carry = driven.contiguous(), carry.contiguous()
        gates, state, after, squashed = torch.empty_like(driven), *(torch.empty_like(carry) for _ in range(3))
        tensors = (driven, carry, gates, state, after, squashed)
        kernels = loaded()
        kernels.lstm_forward(carry.numel() // carry.size(-1), carry.size(-1), *map(address, tensors))
        ctx.save_for_backward(gates, carry, squashed)
        return state, after

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_state: Tensor, into_after: Tensor) -> tuple[Tensor, Tensor]:
        gates, carry, squashed = ctx.saved_tensors
        into_gates, into_carry = torch.empty_like(gates), into_after.clone(memory_format=torch.contiguous_format)
        kernels = loaded()
        tensors = (gates, carry, squashed, into_state.contiguous(), into_carry, into_gates)
        kernels.lstm_backward(carry.numel() // carry.size(-1), carry.size(-1), *map(address, tensors))
        return into_gates, into_carry


class _GRU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, drive: Tensor, recurred: Tensor, before: Tensor) -> Tensor:
        size = before.size(-1)
        sigmas = (drive[..., : 2 * size] + recurred[..., : 2 * size]).sigmoid_()
        reset, update = sigmas.split(size, -1)
        past = recurred[..., 2 * size :]
        new = tanh(torch.addcmul(drive[..., 2 * size :], reset, past))
        ctx.save_for_backward(sigmas, past, new, before)
        return torch.addcmul(new, update, before - new)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        sigmas, past, new, before = ctx.saved_tensors
        size = before.size(-1)
        reset, update = sigmas.split(size, -1)
        into_before = into_state * update
        into_drive = into_state.new_empty(*into_state.shape[:-1], 3 * size)
        into_reset, into_update, into_new = into_drive.split(size, -1)
        torch.mul(into_state - into_before, torch.addcmul(torch.ones_like(new), new, new, value=-1), out=into_new)
        torch.mul(into_new, past, out=into_reset)
        torch.mul(into_state, before - new, out=into_update)
        into_drive[..., : 2 * size].mul_(torch.addcmul(sigmas, sigmas, sigmas, value=-1))
        into_recurred = into_drive.clone()
        into_recurred[..., 2 * size :].mul_(reset)
        return into_drive, into_recurred, into_before
