"""A recurrence inside kernels.c: sequences from the longest to the shortest, and nothing of their padding."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.fast.kernels import address, addresses, loaded
from regard.fast.packed import laid, team
from regard.fast.products import affine, gradients, spaced
from regard.fast.scratch import scratch


class Rows(NamedTuple):
    """Which real places come one after the other: all of the first place, then all of the second, …"""

    begin: Tensor  # (S + 1,)  where each place begins
    order: Tensor  # (B,)  whose turn it is
    places: Tensor  # (R,)  where each real place stands among all B·S

    @classmethod
    def of(cls, lengths: Tensor, most: int) -> "Rows":
        counts = lengths.numpy()  # quicker than torch for so few
        order = np.argsort(-counts, kind="stable")
        steps = np.arange(most)[:, None]
        real = steps < counts[order]  # (S, B)
        begin = np.zeros(most + 1, dtype=np.int64)
        np.cumsum(real.sum(1), out=begin[1:])
        return cls(*map(torch.from_numpy, (begin, order, (order * most + steps)[real])))

    @classmethod
    def full(cls, steps: int, rows: int) -> "Rows":
        """Where no sequence ends before the others, and time comes first anyway"""
        return cls(torch.arange(steps + 1) * rows, torch.arange(rows), torch.arange(steps * rows))


class Loop:
    """One direction, with the buffers that its backward pass reads."""

    def __init__(self, rows: Rows, gates: Tensor, kept: Tensor, number: int = 0, blank: bool = False):
        """gates (R, D·G or more), of which direction `number` has its part; kept (3, R, H): s_{t-1}, c_{t-1} and
        tanh c_t. The second direction goes backwards; blank: its first states are zero and get no gradient."""
        self.rows, self.gates, self.kept, self.number, self.blank = rows, gates, kept, number, blank
        self.size = kept.size(2)

    def forward(self, recurrence: Tensor, ends: Tensor, values: Tensor) -> None:
        """gates are W x + b before; ends (2, B, H), the first states and carries, become the last; values (B, S, …)"""
        kept = (*addresses(self.kept), *addresses(ends))
        with scratch() as room:
            given = (*self._turns(), laid(recurrence, room), self._part(self.gates))
            loaded().lstm_run(*self._numbers(values), *given, *kept, self._shown(values))

    def backward(self, recurrence: Tensor, into_values: Tensor, into_gates: Tensor, into_ends: Tensor) -> Tensor:
        """into_gates, laid out as gates are, is filled in; into_ends (2, B, H), those of last states and carries,
        become those of the first; returns the biases' (G,)."""
        numbers = self._numbers(into_values)
        into_bias = into_ends.new_zeros(numbers[0], 4 * self.size)  # of each thread
        into = (*addresses(self.kept)[1:], self._shown(into_values), self._part(into_gates))
        with scratch() as room:
            given = (*self._turns(), laid(recurrence.t(), room), self._part(self.gates))
            loaded().lstm_run_backward(*numbers, *given, *into, *addresses(into_ends), address(into_bias))
        return into_bias.sum(0)

    def into_weights(self, into_gates: Tensor, *inputs: Tensor) -> list[Tensor]:
        """dU (G, H), and what the same slopes are to the weights of these inputs"""
        begin = self.number * 4 * self.size
        return gradients(into_gates[:, begin : begin + 4 * self.size], self.kept[0], *inputs)

    def _numbers(self, values: Tensor) -> tuple[int, ...]:
        steps, count = len(self.rows.begin) - 1, len(self.rows.order)
        down, along, _ = values.stride()
        return team(count), steps, count, self.size, self.gates.size(1), self.number, self.blank, down, along

    def _turns(self) -> tuple[int | None, ...]:
        return address(self.rows.begin), address(self.rows.order)

    def _part(self, gates: Tensor) -> int:
        return gates.data_ptr() + self.number * 4 * self.size * gates.element_size()

    def _shown(self, values: Tensor) -> int:
        return values.data_ptr() + self.number * self.size * values.element_size()


class LSTMLayer(torch.autograd.Function):
    """A layer of one or both directions, which share the products with what they read."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, rows: Rows, *weights: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, S, I) and, of each direction, W (G, I), U (G, H) and two biases (G,) -> values (B, S, D·H), zero on
        padding, and last states (B, D·H)"""
        drives, recurrences, biases, past_biases = (weights[kind::4] for kind in range(4))
        count, size = len(drives), recurrences[0].size(1)
        drive, bias = torch.cat(drives), torch.cat(biases) + torch.cat(past_biases)
        inputs = vectors.flatten(0, 1).index_select(0, rows.places)  # (R, I)
        gates = vectors.new_empty(len(inputs), spaced(len(drive)))  # (R, D·G or a line more)
        affine(inputs, drive, bias, into=gates[:, : len(drive)])
        kept = vectors.new_empty(count, 3, len(inputs), size)
        ends = vectors.new_zeros(count, 2, len(vectors), size)
        values = vectors.new_zeros(*vectors.shape[:2], count * size)
        for number, recurrence in enumerate(recurrences):
            Loop(rows, gates, kept[number], number, blank=True).forward(recurrence, ends[number], values)
        ctx.rows = rows
        ctx.save_for_backward(inputs, drive, gates, kept, *recurrences)
        last = torch.empty_like(values[:, 0]).index_copy_(0, rows.order, torch.cat(ends[:, 0].unbind(), -1))
        return values, last

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, into_values: Tensor, into_last: Tensor) -> tuple[Tensor | None, ...]:
        inputs, drive, gates, kept, *recurrences = ctx.saved_tensors
        into_values, count = into_values.contiguous(), len(recurrences)
        into_states = into_last.index_select(0, ctx.rows.order).chunk(count, 1)  # D × (B, H)
        into_vectors, slopes = inputs.new_zeros(into_values.size(0) * into_values.size(1), inputs.size(1)), []
        with scratch() as room:
            into_gates = room.take(*gates.shape)
            for number, (recurrence, into_state) in enumerate(zip(recurrences, into_states, strict=True)):
                loop = Loop(ctx.rows, gates, kept[number], number, blank=True)
                into_ends = torch.stack([into_state, torch.zeros_like(into_state)])
                into_bias = loop.backward(recurrence, into_values, into_gates, into_ends)
                into_recurrence, into_drive = loop.into_weights(into_gates, inputs)
                slopes += [into_drive, into_recurrence, into_bias, into_bias]
            into_vectors.index_copy_(0, ctx.rows.places, affine(into_gates[:, : len(drive)], drive.t()))
        return into_vectors.view(*into_values.shape[:2], -1), None, *slopes
