"""Sequences of vectors → Encoded, by recurrent layers in one or both directions."""

from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.attention.memory import Encoded
from regard.cells import CellState, make_cells
from regard.data.batching import Padded
from regard.dropout import Dropout
from regard.encoders.lstmn import LSTMNEncoder
from regard.fast.encoding import Reader, reads
from regard.fast.hearing import begins_here, hear
from regard.fast.recurrence import run_layer
from regard.fast.switch import wanted


class Embed(nn.Module):
    """Symbol numbers → vectors."""

    def __init__(self, symbols: int, size: int):
        super().__init__()
        self.table = nn.Embedding(symbols, size, padding_idx=0)

    def forward(self, source: Padded) -> Padded:
        return Padded(self.table(source.data), source.lengths)  # (B, S, E)


class Layered(NamedTuple):
    values: Tensor  # (B, S, D·H)  zero on padding
    last: Tensor  # (B, D·H)     each direction's state at the sequence's own end


class FusedLayer(nn.Module):
    """One layer by torch's own loop, packed: the recurrence stops at each sequence's true end."""

    def __init__(self, kind: str, input_size: int, size: int, bidirectional: bool):
        super().__init__()
        classes = {"tanh": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
        self.loop = classes[kind](input_size, size, batch_first=True, bidirectional=bidirectional)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Layered:
        if wanted(vectors):
            return Layered(*run_layer(self.loop, vectors, lengths))
        packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, last = self.loop(packed)
        values, _ = pad_packed_sequence(states, batch_first=True, total_length=vectors.size(1))
        last = last[0] if isinstance(last, tuple) else last  # (D, B, H)  the LSTM's carry stays inside
        return Layered(values, torch.cat(last.unbind(0), -1))


class UnrolledLayer(nn.Module):
    """The same in plain steps, for any cell: h_j = cell(x_j, h_{j-1}), and from the right for the second direction."""

    def __init__(self, kind: str, input_size: int, size: int, bidirectional: bool):
        super().__init__()
        directions = 2 if bidirectional else 1
        self.cells = make_cells(kind, [input_size] * directions, size)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Layered:
        runs = [self._run(direction, vectors, lengths) for direction in range(len(self.cells))]
        return Layered(torch.cat([run.values for run in runs], -1), torch.cat([run.last for run in runs], -1))

    def _run(self, direction: int, vectors: Tensor, lengths: Tensor) -> Layered:
        cell = self.cells[direction]
        places = range(vectors.size(1))
        drives = cell.drive(vectors)  # (B, S, G)
        state: CellState = (vectors.new_zeros(vectors.size(0), cell.size),) * cell.parts
        values = [state[0]] * vectors.size(1)
        for j in places if direction == 0 else reversed(places):
            real = (j < lengths)[:, None]  # (B, 1)  beyond its end a sequence keeps its state
            state = tuple(
                torch.where(real, new, old) for new, old in zip(cell(drives[:, j], state), state, strict=True)
            )
            values[j] = state[0] * real
        return Layered(torch.stack(values, 1), state[0])


class RecurrentEncoder(nn.Module):
    """h_j = [h→_j; h←_j],  layer upon layer; summary = the last layer's states at each sequence's true end."""

    def __init__(
        self,
        input_size: int,
        size: int,
        kind: str = "lstm",
        layers: int = 1,
        bidirectional: bool = True,
        residual: bool = False,
        dropout: Dropout | None = None,
    ):
        super().__init__()
        self.size = size * (2 if bidirectional else 1)
        layer = UnrolledLayer if kind == "sigmoid" else FusedLayer  # torch has no loop for the logistic cell
        sizes = [input_size] + [self.size] * (layers - 1)
        self.layers = nn.ModuleList(layer(kind, before, size, bidirectional) for before in sizes)
        self.residual = residual
        self.dropout = dropout or Dropout(0.0)

    def forward(self, source: Padded) -> Encoded:
        first = self.layers[0](self.dropout(source.data), source.lengths)
        return self.climb(first._replace(values=self.dropout(first.values)), source)

    def climb(self, below: Layered, source: Padded) -> Encoded:
        """The layers above the first"""
        for layer in self.layers[1:]:
            layered = layer(below.values, source.lengths)
            values = layered.values + below.values if self.residual else layered.values  # (B, S, V)
            below = Layered(self.dropout(values), layered.last)
        return Encoded(below.values, source.mask, below.last)


class TextEncoder(nn.Sequential):
    """Symbols → Encoded"""

    def __init__(self, embed: Embed, layers: RecurrentEncoder | LSTMNEncoder):
        super().__init__(embed, layers)
        self.size = layers.size
        loops = [layer.loop if isinstance(layer, FusedLayer) else None for layer in layers.layers]
        self._loops = [loop for loop in loops if isinstance(loop, nn.LSTM)]
        self._reader: Reader | None = None  # kept for as long as the weights are the same

    def forward(self, source: Padded) -> Encoded:
        embed, layers = cast(Embed, self[0]), cast(RecurrentEncoder, self[1])
        if len(self._loops) < len(layers.layers):
            encoded: Encoded = layers(embed(source))
            return encoded
        if self.training or not reads(embed.table, layers.size, source.data):
            return self._learn(embed.table, layers, source)
        if self._reader is None or not self._reader.fits():
            self._reader = Reader(embed.table, self._loops, layers.residual)
        read = self._reader(source)
        return Encoded(read.values, source.mask, read.last)

    def _learn(self, table: nn.Embedding, layers: RecurrentEncoder, source: Padded) -> Encoded:
        dropout = layers.dropout
        if dropout.draws_masks or not begins_here(table, source.data):
            encoded: Encoded = layers(self[0](source))
            return encoded
        first = hear(source.data, source.lengths, table, self._loops[0], dropout.draws(), dropout.draws())
        return layers.climb(Layered(*first), source)
