"""Sources read without gradients, by LSTM layers inside kernels.c.

The symbols' part of the first layer's gates is a table made once per model, nothing is kept of a step but its state,
and for a single source no product of torch is called, which would take longer than the product itself.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.data.batching import Padded
from regard.fast.bounds import are_rows
from regard.fast.decoding import TABLE
from regard.fast.kernels import address, loaded
from regard.fast.packed import packed, search_inside, team
from regard.fast.recurrence import compiled
from regard.fast.switch import wanted
from regard.fast.versions import versions


class Direction(NamedTuple):
    """One direction of one layer."""

    weight: Tensor  # (G, I)  W
    bias: Tensor  # (G,)
    recurrence: Tensor  # U, packed

    @classmethod
    def of(cls, weights: Sequence[Tensor]) -> "Direction":
        weight, recurrence, bias, past_bias = weights
        return cls(weight, bias + past_bias, packed(recurrence))


class Read(NamedTuple):
    values: Tensor  # (B, S, D·H)
    last: Tensor  # (B, D·H)  each direction's state at the sequence's own end


class Reader:
    """LSTM layers over symbols, by weights arranged for it."""

    def __init__(self, words: nn.Embedding, loops: Sequence[nn.LSTM], residual: bool):
        self.words, self.loops, self.residual = words, loops, residual
        self.layers = [[Direction.of(weights) for weights in loop.all_weights] for loop in loops]
        first = self.layers[0] if words.num_embeddings <= TABLE else []
        self.tables = [torch.addmm(one.bias, words.weight, one.weight.t()) for one in first]  # D × (N, G)
        self.weights = self._weights()  # held, so that no others can lie where they do
        self.versions = versions(self.weights)

    def fits(self) -> bool:
        """Whether the weights have not changed since."""
        return self.versions == versions(self._weights())

    def __call__(self, source: Padded) -> Read:
        (rows, places), lengths = source.data.shape, source.lengths.contiguous()
        own = torch.arange(rows * places).view(rows, places)
        values = states = torch.empty(0)
        for number, layer in enumerate(self.layers):
            if number == 0 and self.tables:
                values = states = self._read(layer, self.tables, source.data.contiguous(), lengths)
                continue
            inputs = values if number else self.words(source.data)  # (B, S, I)
            drives = [torch.addmm(one.bias, inputs.flatten(0, 1), one.weight.t()) for one in layer]  # D × (B·S, G)
            states = self._read(layer, drives, own, lengths)
            values = states + inputs if self.residual and number else states
        return Read(values, self._ends(states, lengths))

    def _read(self, layer: list[Direction], drives: list[Tensor], which: Tensor, lengths: Tensor) -> Tensor:
        """Each direction is driven at each place by the row `which` (B, S) of its drives -> states (B, S, D·H)"""
        (rows, places), size = which.shape, drives[0].size(1) // 4
        values, room = drives[0].new_empty(rows, places, len(layer) * size), drives[0].new_empty(8 * rows * size)
        for number, (direction, driven) in enumerate(zip(layer, drives, strict=True)):
            begin = values.data_ptr() + number * size * values.element_size()
            given = map(address, (which, lengths, driven, direction.recurrence))
            loaded().lstm_read(team(rows), rows, places, size, values.size(-1), number, *given, begin, address(room))
        return values

    def _ends(self, states: Tensor, lengths: Tensor) -> Tensor:
        size = self.loops[0].hidden_size
        ahead = states[torch.arange(len(states)), lengths - 1, :size]
        return torch.cat([ahead, states[:, 0, size:]], -1)

    def _weights(self) -> list[Tensor]:
        return [self.words.weight, *(one for loop in self.loops for one in loop.parameters())]


def reads(words: nn.Embedding, size: int, tokens: Tensor) -> bool:
    """Whether these sources are to be read here, by layers of this size."""
    possible = not torch.is_grad_enabled() and wanted(words.weight) and compiled(words.weight)
    return possible and search_inside(size) and are_rows(tokens, len(words.weight))
