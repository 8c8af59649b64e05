"""One step of search for an LSTM decoder with additive soft attention that reads before it moves.

What plain steps compute at every step and for every hypothesis is done once per source or once per model: the symbols'
part of the gates is a table, the values are multiplied into the gates' space (Σ_j α_j (C h_j) = C Σ_j α_j h_j) and into
the readout's, and the query and the recurrence are one product of the same state. Hypotheses that have just branched
off from one another have one past and so one reading, which is done once for all of them. The rest of a step is one
pass of kernels.c.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from regard.fast.attend import OutOfReach
from regard.fast.energy import REACH, Grown
from regard.fast.gates import tanh
from regard.fast.kernels import address, loaded
from regard.fast.packed import packed
from regard.fast.versions import versions

TABLE = 2048  # a larger vocabulary is looked up and multiplied step by step


class Readout(NamedTuple):
    """tanh(W_c [c; s] + b_c), then O and its bias: the attentional output."""

    of_context: Tensor  # (R, V)  W_c's half
    of_state: Tensor  # (R, H)  and its other half
    bias: Tensor  # (R,)  b_c
    packed: tuple[Tensor, ...]  # both halves, b_c, O and its bias, for kernels.c

    @classmethod
    def of(cls, weights: Sequence[Tensor], width: int) -> "Readout":
        """W_c (R, V + H), b_c (R,), O (N, R) and its bias (N,)"""
        mixing, mixing_bias, output, bias = weights
        halves = mixing[:, :width], mixing[:, width:]
        return cls(*halves, mixing_bias, (*map(packed, halves), mixing_bias, packed(output), bias))


class Arranged:
    """A decoder's weights, arranged for steps without gradients."""

    def __init__(self, weights: Sequence[Tensor]):
        """E (N, E), W_q (A, H), v (A,), C (G, V), W (G, E), W's and U's bias (G,), U (G, H), and, where the output is
        attentional, W_c, its bias, O and its bias"""
        self.words, self.query, self.v, self.context_drive, self.drive, bias, past_bias, self.recurrence = weights[:8]
        self.readout = Readout.of(weights[8:], self.context_drive.size(1)) if weights[8:] else None
        self.bias = bias + past_bias  # (G,)
        self.joined = torch.cat([self.query, self.recurrence])  # (A + G, H)
        self.packed = packed(self.joined)
        self.packed_query, self.packed_recurrence = packed(self.query), packed(self.recurrence)
        self.packed_context_drive = packed(self.context_drive)
        small = len(self.words) <= TABLE
        self.table = torch.addmm(self.bias, self.words, self.drive.t()) if small else None  # (N, G)
        self.weights, self.versions = list(weights), versions(weights)  # held, so that no others can lie where they do

    def fits(self, weights: Sequence[Tensor]) -> bool:
        """Whether these weights have not changed since."""
        return self.versions == versions(weights)


class Siblings(NamedTuple):
    """Rows with one past. Of each group one stands for all."""

    group: Tensor  # (R,)  0 … G − 1
    heads: Tensor  # (G,)  a row of each group

    @classmethod
    def of(cls, past: Tensor) -> "Siblings":
        """Rows are siblings if their numbers (R,) are the same."""
        numbers, group = torch.unique(past, return_inverse=True)
        return cls(group, torch.empty_like(numbers).scatter_(0, group, torch.arange(len(past))))


class Quick:
    """Steps over one batch of sources."""

    def __init__(self, values: Tensor, grown: Grown, mask: Tensor, arranged: Arranged):
        self.weights, self.mask = arranged, mask.contiguous()
        self.power, self.values = grown.power.contiguous(), values.contiguous()

    @cached_property
    def driven(self) -> Tensor:
        """C h_j, (B, S, G)"""
        return self.values @ self.weights.context_drive.t()

    @cached_property
    def shown(self) -> Tensor:
        """What the readout gets of h_j: W_c's half of it (B, S, R), or itself"""
        readout = self.weights.readout
        return self.values if readout is None else self.values @ readout.of_context.t()

    def __call__(
        self, tokens: Tensor, top: Tensor, state: Tensor, carry: Tensor, sources: Tensor, past: Tensor | None
    ) -> tuple[Tensor, ...]:
        """Last symbols, the top layer's s, the first's s and c (R, H), the source each row reads and a number (R,) that
        only rows with the same s and c share -> Σ_j α_j of what is `shown`, weights (R, S), the first layer's s, c"""
        (rows, hidden), (_, places, size), width = state.shape, self.power.shape, self.shown.size(-1)
        fixed = self.weights
        table, symbols = fixed.table, tokens
        if table is None:
            table, symbols = torch.addmm(fixed.bias, fixed.words[tokens], fixed.drive.t()), torch.arange(rows)
        several = past is not None and rows > len(self.values)  # hypotheses of one source
        siblings = Siblings.of(past) if past is not None and several else None
        joined = self._joined(top, state, siblings)  # (G, A + 4H)
        weights, context = state.new_empty(rows, places), state.new_empty(rows, width)
        moved, after = state.new_empty(rows, hidden), state.new_empty(rows, hidden)
        raised, gates = state.new_empty(max(size, hidden)), state.new_empty(4 * hidden)
        groups = (None, None) if siblings is None else (siblings.group, torch.full_like(siblings.heads, -1))
        chosen = (sources.contiguous(), symbols.contiguous())  # held here: an address does not keep a copy alive
        read = (
            *chosen,
            *groups,
            joined,
            self.power,
            fixed.v,
            self.shown,
            self.driven,
            self.mask,
            table,
            carry.contiguous(),
        )
        written = (raised, gates, weights, context, moved, after)
        kernels = loaded()
        numbers = (rows, places, size, width, hidden)
        if kernels.read_and_move(*numbers, *map(address, (*read, *written))) > REACH:
            raise OutOfReach
        return context, weights, moved, after

    def readout(self, context: Tensor, state: Tensor) -> Tensor | None:
        """From what a step gave as its context, and the top layer's s after it; None where the output is another one"""
        readout = self.weights.readout
        return None if readout is None else tanh(torch.addmm(context + readout.bias, state, readout.of_state.t()))

    def _joined(self, top: Tensor, state: Tensor, siblings: Siblings | None) -> Tensor:
        """[W_q s_top; U s] of each group of rows"""
        heads = slice(None) if siblings is None else siblings.heads
        if top is state:
            return state[heads] @ self.weights.joined.t()
        return torch.cat([top[heads] @ self.weights.query.t(), state[heads] @ self.weights.recurrence.t()], -1)
