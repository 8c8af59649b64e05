"""One step of search for an LSTM decoder with additive soft attention that reads before it moves.

What plain steps compute at every step and for every hypothesis is done once per source or once per model: the symbols'
part of the gates is a table, the values are multiplied into the gates' space (Σ_j α_j (C h_j) = C Σ_j α_j h_j), and the
query and the recurrence are one product of the same state. The rest of a step is one pass of kernels.c.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.fast.attend import OutOfReach
from regard.fast.energy import REACH, Grown
from regard.fast.kernels import address, loaded

TABLE = 2048  # a larger vocabulary is looked up and multiplied step by step


class Arranged:
    """A decoder's weights, arranged for steps without gradients."""

    def __init__(self, weights: Sequence[Tensor]):
        """E (N, E), W_q (A, H), v (A,), C (G, V), W (G, E), W's and U's bias (G,), U (G, H)"""
        self.words, self.query, self.v, self.context_drive, self.drive, bias, past_bias, self.recurrence = weights
        self.bias = bias + past_bias  # (G,)
        self.joined = torch.cat([self.query, self.recurrence])  # (A + G, H)
        small = len(self.words) <= TABLE
        self.table = torch.addmm(self.bias, self.words, self.drive.t()) if small else None  # (N, G)
        self.versions = [one._version for one in weights]

    def fits(self, weights: Sequence[Tensor]) -> bool:
        """Whether these weights have not changed since."""
        return self.versions == [one._version for one in weights] and self.words is weights[0]


class Quick:
    """Steps over one batch of sources."""

    def __init__(self, values: Tensor, grown: Grown, mask: Tensor, arranged: Arranged):
        self.weights, self.mask = arranged, mask.contiguous()
        self.power, self.values = grown.power.contiguous(), values.contiguous()
        self.driven = self.values @ arranged.context_drive.t()  # (B, S, G)

    def __call__(
        self, tokens: Tensor, top: Tensor, state: Tensor, carry: Tensor, sources: Tensor
    ) -> tuple[Tensor, ...]:
        """Last symbols, the top layer's s, the first's s and c (R, H), and the source each row reads
        -> context (R, V), weights (R, S), the first layer's s and c"""
        (rows, hidden), (_, places, size), width = state.shape, self.power.shape, self.values.size(-1)
        fixed = self.weights
        table, symbols = fixed.table, tokens
        if table is None:
            table, symbols = torch.addmm(fixed.bias, fixed.words[tokens], fixed.drive.t()), torch.arange(rows)
        if top is state:
            joined = state @ fixed.joined.t()  # (R, A + G)
        else:
            joined = torch.cat([top @ fixed.query.t(), state @ fixed.recurrence.t()], -1)
        weights, context = state.new_empty(rows, places), state.new_empty(rows, width)
        moved, after = state.new_empty(rows, hidden), state.new_empty(rows, hidden)
        raised, gates = state.new_empty(max(size, hidden)), state.new_empty(4 * hidden)
        read = (joined, self.power, fixed.v, self.values, self.driven, self.mask, table, carry.contiguous())
        written = (raised, gates, weights, context, moved, after)
        kernels = loaded()
        numbers = (rows, places, size, width, hidden)
        if (
            kernels.read_and_move(
                *numbers, *map(address, (sources.contiguous(), symbols.contiguous(), *read, *written))
            )
            > REACH
        ):
            raise OutOfReach
        return context, weights, moved, after
