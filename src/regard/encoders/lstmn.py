"""LSTMN: an LSTM with attention inside, which looks back at all its earlier states and carries."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.attention.tape import Tape, TapeAttention
from regard.cells import LSTMCell
from regard.data.batching import Padded
from regard.dropout import Dropout
from regard.fast.gathering import gathered


class Taped(NamedTuple):
    """The state of an LSTMN: everything it remembers."""

    tape: Tape
    last: Tensor  # (B, H)  h̃_{t-1}


class Moved(NamedTuple):
    """One step of an LSTMN."""

    state: Tensor  # (B, H)  h_t
    after: Taped
    weights: Tensor  # (B, t)  where on its tape it looked


class LSTMNCell(nn.Module):
    """h_t, c_t = LSTM(x_t, h̃_t, c̃_t), where h̃_t and c̃_t are read from the tape of h_i and c_i, i < t
    Cheng, Dong and Lapata 2016, eq. 4–9

    In deep fusion c_t also has a part that comes from a source (eq. 13): c_t = fused + f ⊙ c̃_t + i ⊙ ĉ_t
    """

    def __init__(self, input_size: int, size: int, compare: int):
        super().__init__()
        self.attention = TapeAttention(input_size, size, compare)
        self.cell = LSTMCell(input_size, size)
        self.sizes = [self.cell.gates * size, compare]

    def drive(self, inputs: Tensor) -> Tensor:
        """[W x_t + b; W_x x_t]: (…, I) -> (…, 4H + A)"""
        return torch.cat([self.cell.drive(inputs), self.attention.ask(inputs)], -1)

    def blank(self, like: Tensor) -> Taped:
        """Before the first step, with nothing to look back at, for as many rows as `like` (B, …)"""
        return Taped(self.attention.empty(like), like.new_zeros(len(like), self.cell.size))

    def forward(self, drive: Tensor, before: Taped, noise: Tensor | None = None, fused: Tensor | None = None) -> Moved:
        gates, asked = torch.split(drive, self.sizes, -1)  # (B, 4H), (B, A)
        recalled = self.attention(asked, before.last, before.tape)
        if fused is None:
            state, carry = self.cell(gates, (recalled.state, recalled.carry), noise)  # (B, H), (B, H)
        else:
            admit, forget, new, emit = self.cell.recur(recalled.state, noise, gates).chunk(4, -1)
            carry = fused + forget.sigmoid() * recalled.carry + admit.sigmoid() * new.tanh()  # (B, H)
            state = emit.sigmoid() * carry.tanh()  # (B, H)
        tape = self.attention.extend(before.tape, state, carry)
        return Moved(state, Taped(tape, recalled.state), recalled.weights)


class Tapes(NamedTuple):
    """What a layer has read; zero on padding."""

    states: Tensor  # (B, S, D·H)
    carries: Tensor  # (B, S, D·H)
    last: Tensor  # (B, D·H)  each direction's state at the sequence's own end
    last_carry: Tensor  # (B, D·H)


class LSTMNLayer(nn.Module):
    """One layer in one direction or both; the second reads each sequence from its own end."""

    def __init__(self, input_size: int, size: int, compare: int, bidirectional: bool):
        super().__init__()
        directions = 2 if bidirectional else 1
        self.cells = nn.ModuleList(LSTMNCell(input_size, size, compare) for _ in range(directions))

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tapes:
        real = torch.arange(vectors.size(1), device=vectors.device) < lengths[:, None]  # (B, S)
        rows, ends = torch.arange(len(lengths), device=vectors.device), (lengths - 1).clamp(min=0)  # (B,)
        tapes, lasts = [], []
        for direction, cell in enumerate(self.cells):
            inputs = vectors if direction == 0 else _turned(vectors, lengths)
            entries = self._run(cell, inputs) * real[:, :, None]  # (B, S, 2H)
            lasts.append(entries[rows, ends])  # (B, 2H)
            tapes.append(entries if direction == 0 else _turned(entries, lengths))
        states, carries = zip(*(entries.chunk(2, -1) for entries in tapes), strict=True)
        last, last_carry = zip(*(entry.chunk(2, -1) for entry in lasts), strict=True)
        return Tapes(*(torch.cat(parts, -1) for parts in (states, carries, last, last_carry)))

    def _run(self, cell: nn.Module, inputs: Tensor) -> Tensor:
        """The whole tape. No place looks at a later one, so what stands beyond an end changes nothing before it."""
        assert isinstance(cell, LSTMNCell)
        drives = cell.drive(inputs).unbind(1)  # S × (B, 4H + A)
        state = cell.blank(inputs)
        with gathered(cell, inputs):
            for drive in drives:
                state = cell(drive, state).after
        return state.tape.entries  # (B, S, 2H)


def _turned(vectors: Tensor, lengths: Tensor) -> Tensor:
    """Each sequence backwards, its padding left where it is; twice is not at all."""
    places = torch.arange(vectors.size(1), device=vectors.device)  # (S,)
    order = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)  # (B, S)
    return vectors.gather(1, order[:, :, None].expand_as(vectors))


class LSTMNEncoder(nn.Module):
    """Vectors → Encoded, layer upon layer; summary = the last layer's states at each sequence's true end.

    With `carries`, values are [h_j; c_j] for a decoder that reads both tapes (deep fusion).
    """

    def __init__(
        self,
        input_size: int,
        size: int,
        compare: int,
        layers: int = 1,
        bidirectional: bool = True,
        dropout: Dropout | None = None,
        carries: bool = False,
    ):
        super().__init__()
        width = size * (2 if bidirectional else 1)
        self.size = width * (2 if carries else 1)
        sizes = [input_size] + [width] * (layers - 1)
        self.layers = nn.ModuleList(LSTMNLayer(before, size, compare, bidirectional) for before in sizes)
        self.dropout = dropout or Dropout(0.0)
        self.carries = carries

    def forward(self, source: Padded) -> Encoded:
        vectors = self.dropout(source.data)  # (B, S, E)
        for layer in self.layers:
            tapes = layer(vectors, source.lengths)
            vectors = self.dropout(tapes.states)  # (B, S, D·H)
        if not self.carries:
            return Encoded(vectors, source.mask, tapes.last)
        both = torch.cat([vectors, self.dropout(tapes.carries)], -1)  # (B, S, 2·D·H)
        return Encoded(both, source.mask, torch.cat([tapes.last, tapes.last_carry], -1))
