"""A whole recurrence as one node of the graph: h_t = LSTM(drive_t, h_{t-1}) for all t.

Every step writes into its place of buffers made before the loop, so the weight's gradient is one product of two of them
after it, and nothing is stacked, split or added up by autograd.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.fast.gates import gru, lstm
from regard.fast.gathering import product, share
from regard.fast.inside import Loop, LSTMLayer, Rows
from regard.fast.kernels import address, library, loaded
from regard.fast.packed import loops_inside


def run_layer(loop: nn.RNNBase, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """What torch's packed loop computes: values (B, S, D·H), zero on padding, and last states (B, D·H).

    Where the loop is torch's, each sequence is turned around by its own length for the second direction, so no loop
    needs a mask: what is computed beyond a sequence's end is not read by anything before it.
    """
    if loop.mode == "LSTM" and compiled(vectors) and loops_inside(len(vectors)):
        return _run_inside(loop, vectors, lengths)
    places = torch.arange(vectors.size(1), device=vectors.device)  # (S,)
    real = places < lengths[:, None]  # (B, S)
    turned = torch.where(real, lengths[:, None] - 1 - places, places)  # (B, S)  its own inverse
    values, last = [], []
    for direction, (weight, recurrence, bias, past_bias) in enumerate(loop.all_weights):
        inputs = (_take(vectors, turned) if direction else vectors).transpose(0, 1)  # (S, B, I)
        states = _states(loop.mode, inputs, weight, recurrence, bias, past_bias)  # (S, B, H)
        last.append(states[lengths - 1, torch.arange(len(lengths))])  # (B, H)
        ahead = states.transpose(0, 1)  # (B, S, H)
        values.append(_take(ahead, turned) if direction else ahead)
    return torch.cat(values, -1) * real[:, :, None], torch.cat(last, -1)


def compiled(tensor: Tensor) -> bool:
    """Whether there is a kernel for such numbers."""
    return tensor.dtype == torch.float32 and library() is not None


def _run_inside(loop: nn.RNNBase, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The same where the loop is C's, which needs no padding."""
    weights = [one for direction in loop.all_weights for one in direction]
    values, last = LSTMLayer.apply(vectors, Rows.of(lengths, vectors.size(1)), *weights)
    return values, last


def _take(sequences: Tensor, places: Tensor) -> Tensor:
    return sequences.gather(1, places[:, :, None].expand(-1, -1, sequences.size(-1)))  # (B, S, …)


def _states(mode: str, inputs: Tensor, weight: Tensor, recurrence: Tensor, bias: Tensor, past_bias: Tensor) -> Tensor:
    """h_1 … h_S (S, B, H) of torch's cells, from a first state of zero"""
    first = inputs.new_zeros(inputs.size(1), recurrence.size(1))  # (B, H)
    if mode == "LSTM":
        return lstm_states(nn.functional.linear(inputs, weight, bias + past_bias), recurrence, first, first)[0]
    shared, state, states = share(recurrence, past_bias), first, []
    for drive in nn.functional.linear(inputs, weight, bias).unbind(0):
        gated = mode == "GRU"
        state = gru(drive, product(state, shared), state) if gated else product(state, shared, drive).tanh()
        states.append(state)
    return torch.stack(states)


def lstm_states(drives: Tensor, recurrence: Tensor, state: Tensor, carry: Tensor) -> tuple[Tensor, Tensor]:
    """drive_t = W x_t + all biases (T, B, G), U (G, H), s_0 and c_0 (B, H) -> s_1 … s_T (T, B, H) and c_T (B, H)"""
    if compiled(drives):
        states, last = _LSTMStates.apply(drives, recurrence, state, carry)
        return states, last
    shared, states = share(recurrence, None), []
    for drive in drives.unbind(0):
        state, carry = lstm(product(state, shared, drive), carry)
        states.append(state)
    return torch.stack(states), carry


def uses_own_loop(tensor: Tensor) -> bool:
    """On a GPU nothing is faster than cuDNN."""
    return tensor.device.type != "cpu"


def own_loop(inputs: Tensor, drive: nn.Linear, recurrence: nn.Linear, state: Tensor, carry: Tensor) -> Tensor:
    """The same by torch's own loop: x_t (T, B, I) -> s_1 … s_T (T, B, H)"""
    weights = [drive.weight, recurrence.weight, drive.bias, recurrence.bias]
    first = (state[None].contiguous(), carry[None].contiguous())
    states: Tensor = torch.lstm(inputs, first, weights, True, 1, 0.0, False, False, False)[0]  # biases, 1 layer, …
    return states


class LSTMTape:
    """The buffers of one layer's loop: what the backward pass needs of every step."""

    def __init__(self, states: Tensor, carries: Tensor, squashed: Tensor, gates: Tensor):
        self.states, self.carries = states, carries  # (T + 1, B, H)  s_0 … s_T and c_0 … c_T
        self.squashed = squashed  # (T, B, H)
        self.gates = gates  # (T, B, G)
        self.rows, self.size = states.shape[1:]
        # a slice of a tensor costs as much as what a kernel does with it, so kernels get addresses, counted from these
        self._begin = [address(one) or 0 for one in self.tensors]
        self._stride = [one.stride(0) * one.element_size() for one in self.tensors]

    @classmethod
    def begin(cls, steps: int, state: Tensor, carry: Tensor) -> "LSTMTape":
        """Blank, but for s_0 and c_0 (B, H)."""
        rows, size = state.shape
        states, carries = (state.new_empty(steps + 1, rows, size) for _ in range(2))
        states[0], carries[0] = state, carry
        return cls(states, carries, state.new_empty(steps, rows, size), state.new_empty(steps, rows, 4 * size))

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.states, self.carries, self.squashed, self.gates

    def forward(self, step: int, driven: Tensor) -> None:
        """From W x_t + U s_{t-1} + b (B, G) to s_t and c_t, which are the tape's `step + 1`."""
        states, carries, squashed, gates = self._at(step)
        after = (states + self._stride[0], carries + self._stride[1])
        loaded().lstm_forward(self.rows, self.size, address(driven), carries, gates, *after, squashed)

    def backward(self, step: int, into_state: Tensor, into_carry: Tensor, into_gates: Tensor) -> None:
        """ds_t and dc_t (B, H) to into_gates (B, G); dc_{t-1} replaces dc_t."""
        _, carries, squashed, gates = self._at(step)
        slopes = map(address, (into_state, into_carry, into_gates))
        loaded().lstm_backward(self.rows, self.size, gates, carries, squashed, *slopes)

    def _at(self, step: int) -> list[int]:
        return [begin + step * stride for begin, stride in zip(self._begin, self._stride, strict=True)]


class _LSTMStates(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, drives: Tensor, recurrence: Tensor, state: Tensor, carry: Tensor) -> tuple[Tensor, Tensor]:
        steps, rows = drives.shape[:2]
        ctx.inside = loops_inside(rows)
        if ctx.inside:
            gates = drives.flatten(0, 1).clone(memory_format=torch.contiguous_format)  # (T·B, G)
            kept, ends = state.new_empty(3, len(gates), state.size(1)), torch.stack([state, carry])
            states = state.new_empty(steps, *state.shape)
            Loop(Rows.full(steps, rows), gates, kept).forward(recurrence, ends, states.transpose(0, 1))
            ctx.save_for_backward(recurrence, gates, kept)
            return states, ends[1].clone()
        tape = LSTMTape.begin(steps, state, carry)
        driven, turned = drives.new_empty(drives.shape[1:]), recurrence.t()
        for step, (drive, before) in enumerate(zip(drives.unbind(0), tape.states.unbind(0), strict=False)):
            torch.addmm(drive, before, turned, out=driven)
            tape.forward(step, driven)
        ctx.save_for_backward(recurrence, *tape.tensors)
        return tape.states[1:], tape.carries[-1].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_states: Tensor, into_last: Tensor) -> tuple[Tensor, ...]:
        into_states = into_states.contiguous()
        past, into_carry = into_ends = torch.stack([torch.zeros_like(into_last), into_last])
        if ctx.inside:
            recurrence, gates, kept = ctx.saved_tensors
            loop, into_gates = Loop(Rows.full(*into_states.shape[:2]), gates, kept), torch.empty_like(gates)
            loop.backward(recurrence, into_states.transpose(0, 1), into_gates, into_ends)
            return into_gates.view(*into_states.shape[:2], -1), *loop.into_weights(into_gates), past, into_carry
        recurrence, *tensors = ctx.saved_tensors
        tape = LSTMTape(*tensors)
        into_drives, into_state = torch.empty_like(tape.gates), torch.empty_like(past)
        steps = list(enumerate(zip(into_states.unbind(0), into_drives.unbind(0), strict=True)))
        for step, (into, into_drive) in reversed(steps):
            torch.add(into, past, out=into_state)
            tape.backward(step, into_state, into_carry, into_drive)
            torch.mm(into_drive, recurrence, out=past)
        into_recurrence = into_drives.flatten(0, 1).t() @ tape.states[:-1].flatten(0, 1)
        return into_drives, into_recurrence, past, into_carry
