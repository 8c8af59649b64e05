"""LSTMN decoders: attention inside the cell over what was written, and attention over the source in one of two ways."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded, Mechanism, Trace
from regard.attention.tape import Tape, TapeAttention
from regard.decoders.looking import Looked
from regard.decoders.output import Output
from regard.decoders.start import Start
from regard.decoders.step import Decoded, Step
from regard.dropout import Dropout, Noise
from regard.encoders.lstmn import LSTMNCell, Moved, Taped
from regard.errors import UsageError
from regard.fast.gathering import Repeated, gathered
from regard.losses import Told, Wanted, readout_cross_entropy


class Remembering(NamedTuple):
    """Tapes grow by one entry a step; all rows of a search have written equally much."""

    layers: tuple[Taped, ...]
    top: Tensor  # (B, H)  s_{t-1}
    trace: Trace | None  # past weights over the source, for attentions that look back
    noise: Noise  # the masks of variational dropout
    source: Tensor | None = None  # (B, H)  γ̃_{t-1}, in deep fusion


class Recurred(NamedTuple):
    state: Remembering
    context: Tensor  # (B, V)
    weights: Tensor  # (B, S)  over the source
    earlier: Tensor  # (B, t)  over the top layer's tape


class LSTMNDecoder(nn.Module):
    """s_t = LSTMN([E(y_{t-1}); c_t], tape of s_0 … s_{t-1}),   c_t = attend(s_{t-1}) over the source: shallow fusion
    Cheng, Dong and Lapata 2016, section 4

    With `query` "current", c_t = attend(s_t) enters the output only; with an attention that reads nothing this is a
    language model. The tape begins with s_0, so that there is something to look back at from the first step on.
    """

    look, before = "earlier words", "<begin>"

    def __init__(
        self,
        symbols: int,
        embed: int,
        size: int,
        compare: int,
        attention: Mechanism,
        output: Output,
        start: Start,
        layers: int = 1,
        query: str = "previous",
        dropout: Dropout | None = None,
    ):
        super().__init__()
        self.attention = attention
        self.output = output
        self.first = start
        self.words = nn.Embedding(symbols, embed, padding_idx=0)
        self.cells = nn.ModuleList(LSTMNCell(before, size, compare) for before in [embed] + [size] * (layers - 1))
        early = query == "previous" and attention.size > 0
        self.context_drive = Repeated(attention.size, 4 * size + compare, bias=False) if early else None
        self.dropout = dropout or Dropout(0.0)

    @property
    def attends(self) -> bool:
        return self.attention.attends

    def start(self, encoded: Encoded) -> tuple[Remembering, Any]:
        looks_back = self.attention.looks_back
        trace = Trace.begin(encoded.mask, encoded.values.dtype, encoded.grid) if looks_back else None
        return self._begin(encoded, trace), self.attention.remember(encoded)

    def _begin(self, encoded: Encoded, trace: Trace | None = None) -> Remembering:
        firsts = self.first(encoded)
        layers = []
        for cell, (state, carry) in zip(self._cells, firsts, strict=True):
            blank = cell.blank(state)
            layers.append(blank._replace(tape=cell.attention.extend(blank.tape, state, carry)))
        top = firsts[-1][0]  # (B, H)
        noise = self.dropout.noise(top, len(layers), self.words.embedding_dim, self.output.size)
        return Remembering(tuple(layers), top, trace, noise)

    def step(self, tokens: Tensor, state: Remembering, memory: Any) -> Step:
        """y_{t-1} in, p(y_t) out: search calls this, and it equals one step of `forward`."""
        word = self.dropout(self.words(tokens), state.noise.word)  # (B, E)
        recurred = self._recur(self._drive(word), state, memory)
        readout = self.output.readout(recurred.state.top, recurred.context, word)
        return Step(self.output.logits(self.dropout(readout, state.noise.readout)), recurred.state, recurred.weights)

    def quick(self, memory: Any) -> None:
        return None

    def forward(self, tokens: Tensor, encoded: Encoded) -> Decoded:
        """y_0 … y_{T-1} in, p(y_1) … p(y_T) out."""
        readouts, weights = self.readouts(tokens, encoded)
        return Decoded(self.output.logits(readouts), weights)

    def loss(self, tokens: Tensor, encoded: Encoded, wanted: Wanted, looked: bool) -> Told:
        readouts, weights = self.readouts(tokens, encoded)
        return Told(readout_cross_entropy(readouts, self.output.O, wanted), weights)

    def readouts(self, tokens: Tensor, encoded: Encoded) -> tuple[Tensor, Tensor]:
        """All steps up to the output layer, (B, T, R), and the weights over the source (B, T, S)."""
        state, memory = self.start(encoded)
        words = self.dropout(self.words(tokens), state.noise.word)  # (B, T, E)
        steps = self._unroll(words, state, memory)
        tops = torch.stack([one.state.top for one in steps], 1)  # (B, T, H)
        contexts = torch.stack([one.context for one in steps], 1)  # (B, T, V)
        readouts = self.dropout(self.output.readout(tops, contexts, words), state.noise.readout)  # (B, T, R)
        return readouts, torch.stack([one.weights for one in steps], 1)

    def look_back(self, tokens: Tensor, encoded: Encoded) -> Looked:
        """Where a word looked when it was read. What stands on the tape before y_1, s_0 and the state that read BEGIN,
        is one column."""
        state, memory = self.start(encoded)
        steps = self._unroll(self.words(tokens), state, memory)[1:]  # T: those that read y_1 … y_T
        weights = tokens.new_zeros(len(tokens), len(steps), len(steps), dtype=state.top.dtype)  # (B, T, T)
        for t, one in enumerate(steps):
            weights[:, t, 0] = one.earlier[:, :2].sum(-1)
            weights[:, t, 1 : t + 1] = one.earlier[:, 2:]
        return Looked(weights)

    def _unroll(self, words: Tensor, state: Remembering, memory: Any) -> list[Recurred]:
        steps = []
        with gathered(self, words):
            for drive in self._drive(words).unbind(1):  # T × (B, G)
                steps.append(self._recur(drive, state, memory))
                state = steps[-1].state
        return steps

    def _drive(self, words: Tensor) -> Tensor:
        """What a step takes from the word alone: (…, E) -> (…, G)"""
        return self._cells[0].drive(words)

    def _recur(self, drive: Tensor, state: Remembering, memory: Any) -> Recurred:
        attended = None
        if self.context_drive is not None:
            attended = self.attention(state.top[:, None], memory, state.trace)
            drive = self.context_drive(attended.context[:, 0], drive)  # (B, 4H + A)
        moved = self._climb(drive, state)
        top = moved[-1].state  # (B, H)
        if attended is None:
            attended = self.attention(top[:, None], memory, state.trace)
        context, weights = attended.context[:, 0], attended.weights[:, 0]  # (B, V), (B, S)
        trace = state.trace.after(weights) if state.trace is not None else None
        after = Remembering(tuple(one.after for one in moved), top, trace, state.noise)
        return Recurred(after, context, weights, moved[-1].weights)

    def _climb(self, drive: Tensor, state: Remembering, fused: Tensor | None = None) -> list[Moved]:
        """One step of every layer, from the bottom up; only the lowest is fused with a source."""
        moved: list[Moved] = []
        masks = zip(state.noise.states, state.noise.inputs, strict=True)
        for cell, before, (past, below) in zip(self._cells, state.layers, masks, strict=True):
            if moved:
                drive = cell.drive(self.dropout(moved[-1].state, below))
            moved.append(cell(drive, before, past, None if moved else fused))
        return moved

    @property
    def _cells(self) -> Sequence[LSTMNCell]:
        return cast("Sequence[LSTMNCell]", self.cells)


class DeepLSTMNDecoder(LSTMNDecoder):
    """Deep fusion: the cell reads the tapes of the source, γ_j and α_j, as it reads its own.

    b_tj = u · tanh(W_γ γ_j + W_x x_t + W_γ̃ γ̃_{t-1}),   p_t = softmax_j b_tj,   [γ̃_t; α̃_t] = Σ_j p_tj [γ_j; α_j],
    r_t = σ(W_r [γ̃_t; x_t]),   c_t = r_t ⊙ α̃_t + f_t ⊙ c̃_t + i_t ⊙ ĉ_t            Cheng et al. 2016, eq. 10–13

    Nothing of the source but α̃_t enters, and the output sees s_t alone.
    """

    attends = True

    def __init__(
        self,
        symbols: int,
        embed: int,
        size: int,
        compare: int,
        value_size: int,
        none: Mechanism,
        output: Output,
        start: Start,
        layers: int = 1,
        dropout: Dropout | None = None,
    ):
        super().__init__(symbols, embed, size, compare, none, output, start, layers, "current", dropout)
        if value_size != 2 * size:
            raise UsageError(
                f"deep fusion adds a source's carries to the decoder's, but a state and its carry have {value_size} "
                f"numbers in the encoder and {2 * size} in the decoder: make model.hidden even"
            )
        self.source = TapeAttention(embed, size, compare)
        self.gate = nn.Linear(embed, size)
        self.gate_source = Repeated(size, size, bias=False)
        self.sizes = [4 * size + compare, compare, size]

    def start(self, encoded: Encoded) -> tuple[Remembering, Tape]:
        state = self._begin(encoded)
        states, carries = encoded.values.chunk(2, -1)  # (B, S, H), (B, S, H)
        return state._replace(source=torch.zeros_like(state.top)), self.source.record(states, carries, encoded.mask)

    def _drive(self, words: Tensor) -> Tensor:
        return torch.cat([self._cells[0].drive(words), self.source.ask(words), self.gate(words)], -1)

    def _recur(self, drive: Tensor, state: Remembering, memory: Tape) -> Recurred:
        own, asked, gate = torch.split(drive, self.sizes, -1)  # (B, 4H + A), (B, A), (B, H)
        recalled = self.source(asked, cast(Tensor, state.source), memory)
        fused = self.gate_source(recalled.state, gate).sigmoid() * recalled.carry  # (B, H)  r_t ⊙ α̃_t
        moved = self._climb(own, state, fused)
        top = moved[-1].state  # (B, H)
        after = Remembering(tuple(one.after for one in moved), top, None, state.noise, recalled.state)
        return Recurred(after, top[:, :0], recalled.weights, moved[-1].weights)
