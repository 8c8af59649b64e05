"""Sources read without gradients, by LSTM layers inside kernels.c.

The symbols' part of the first layer's gates is a table made once per model, nothing is kept of a step but its state,
and for a single source no product of torch is called, which would take longer than the product itself.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.encoders.recurrent import Embed, FusedLayer, RecurrentEncoder
from regard.fast.decoding import TABLE
from regard.fast.kernels import address, loaded
from regard.fast.packed import packed, search_inside
from regard.fast.recurrence import compiled
from regard.fast.switch import wanted


class Direction(NamedTuple):
    """One direction of one layer."""

    weight: Tensor  # (G, I)  W
    bias: Tensor  # (G,)
    recurrence: Tensor  # U, packed

    @classmethod
    def of(cls, weights: Sequence[Tensor]) -> "Direction":
        weight, recurrence, bias, past_bias = weights
        return cls(weight, bias + past_bias, packed(recurrence))


class Reader:
    """What a text encoder does with its symbols, by weights arranged for it."""

    def __init__(self, words: nn.Embedding, encoder: RecurrentEncoder):
        self.words, self.encoder = words, encoder
        self.loops = [cast(FusedLayer, layer).loop for layer in encoder.layers]
        self.layers = [[Direction.of(weights) for weights in loop.all_weights] for loop in self.loops]
        first = self.layers[0] if words.num_embeddings <= TABLE else []
        self.tables = [torch.addmm(one.bias, words.weight, one.weight.t()) for one in first]  # D × (N, G)
        self.versions = self._versions()

    def fits(self) -> bool:
        """Whether the weights have not changed since."""
        return self.versions == self._versions()

    def __call__(self, source: Padded) -> Encoded:
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
            values = states + inputs if self.encoder.residual and number else states
        return Encoded(values, source.mask, self._ends(states, lengths))

    def _read(self, layer: list[Direction], drives: list[Tensor], which: Tensor, lengths: Tensor) -> Tensor:
        """Each direction is driven at each place by the row `which` (B, S) of its drives -> states (B, S, D·H)"""
        (rows, places), size = which.shape, drives[0].size(1) // 4
        values, room = drives[0].new_empty(rows, places, len(layer) * size), drives[0].new_empty(8 * rows * size)
        for number, (direction, driven) in enumerate(zip(layer, drives, strict=True)):
            begin = values.data_ptr() + number * size * values.element_size()
            given = map(address, (which, lengths, driven, direction.recurrence))
            loaded().lstm_read(rows, places, size, values.size(-1), number, *given, begin, address(room))
        return values

    def _ends(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Each direction's state at the sequence's own end, (B, D·H)"""
        size = self.loops[0].hidden_size
        ahead = states[torch.arange(len(states)), lengths - 1, :size]
        return torch.cat([ahead, states[:, 0, size:]], -1)

    def _versions(self) -> list[object]:
        weights = [self.words.weight, *(one for loop in self.loops for one in loop.parameters())]
        return [part for one in weights for part in (one._version, one.data_ptr())]


def reader(encoder: nn.Module, source: Padded, known: Reader | None) -> Reader | None:
    """One for this encoder, `known` if it still fits; None where the encoder must read by itself."""
    if torch.is_grad_enabled() or encoder.training or not wanted(source.data):
        return None
    if known is not None and known.fits():
        return known
    match list(encoder.children()):
        case [Embed() as embed, RecurrentEncoder() as layers] if all(map(_is_lstm, layers.layers)):
            fits = compiled(embed.table.weight) and search_inside(layers.size)
            return Reader(embed.table, layers) if fits else None
    return None


def _is_lstm(layer: nn.Module) -> bool:
    return isinstance(layer, FusedLayer) and isinstance(layer.loop, nn.LSTM)
