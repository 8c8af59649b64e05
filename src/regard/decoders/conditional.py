"""A decoder whose attention stands between two cells: one has read the last symbol, the other reads what was seen."""

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded, Mechanism, Trace
from regard.cells import CellState, make_cells
from regard.decoders.output import Output
from regard.decoders.recurrent import Seen
from regard.decoders.start import Start
from regard.decoders.step import Decoded, State, Step
from regard.dropout import Dropout
from regard.errors import UsageError
from regard.fast.gathering import gathered
from regard.losses import Told, Wanted, readout_cross_entropy


class Moved(NamedTuple):
    """One step before its output."""

    query: Tensor  # (B, H)  s'_t
    state: State
    context: Tensor  # (B, V)
    weights: Tensor  # (B, S)


class ConditionalDecoder(nn.Module):
    """s'_t = RNN_1(s_{t-1}, E(y_{t-1})),  c_t = attend(s'_t),  s_t = RNN_2(s'_t, c_t),
    p(y_t) = output(s_t, c_t, E(y_{t-1}))            Sennrich et al. 2017 (Nematus), the conditional GRU

    It asks with a state that knows the last symbol, as query=current does, and yet what it sees changes the state, as
    with query=previous. Both cells move one state, with an LSTM's carry. Readers of formulas and handwriting have it
    with a maxout output and s_0 = tanh(W mean_j h_j), which is start `last` behind an encoder whose summary is that
    mean (Zhang et al. 2017, WAP; Anjum & Khan 2021, CALText).
    """

    def __init__(
        self,
        symbols: int,
        embed: int,
        size: int,
        attention: Mechanism,
        output: Output,
        start: Start,
        kind: str = "gru",
        dropout: Dropout | None = None,
    ):
        super().__init__()
        if attention.size == 0:
            raise UsageError(
                "the cell behind the attention reads a context, and this attention has none: use query=current"
            )
        self.attention = attention
        self.output = output
        self.first = start
        self.words = nn.Embedding(symbols, embed, padding_idx=0)
        self.cells = make_cells(kind, [embed, attention.size], size)
        self.dropout = dropout or Dropout(0.0)

    @property
    def attends(self) -> bool:
        return self.attention.attends

    def start(self, encoded: Encoded) -> tuple[State, Any]:
        (first,) = self.first(encoded)
        looks_back = self.attention.looks_back
        trace = Trace.begin(encoded.mask, encoded.values.dtype, encoded.grid) if looks_back else None
        noise = self.dropout.noise(first[0], len(self.cells), self.words.embedding_dim, self.output.size)
        return State((first,), None, trace, noise), self.attention.remember(encoded)

    def step(self, tokens: Tensor, state: State, memory: Any) -> Step:
        seen, state = self.move(tokens, state, memory)
        return Step(self.output.logits(seen.readout), state, seen.weights)

    def move(self, tokens: Tensor, state: State, memory: Any) -> tuple[Seen, State]:
        """A step before its output layer."""
        word = self.dropout(self.words(tokens), state.noise.word)  # (B, E)
        moved = self._recur(self.cells[0].drive(word), state, memory)
        top = moved.state.layers[0][0]  # (B, H)
        readout = self._readout(top, moved.context, word, state)  # (B, R)
        return Seen(moved.query, top, moved.context, word, readout, moved.weights), moved.state

    def quick(self, memory: Any) -> None:
        return None

    def forward(self, tokens: Tensor, encoded: Encoded) -> Decoded:
        seen = self.see(tokens, encoded)
        return Decoded(self.output.logits(seen.readout), seen.weights)

    def loss(self, tokens: Tensor, encoded: Encoded, wanted: Wanted, looked: bool) -> Told:
        seen = self.see(tokens, encoded)
        return Told(readout_cross_entropy(seen.readout, self.output.O, wanted), seen.weights)

    def see(self, tokens: Tensor, encoded: Encoded) -> Seen:
        """All steps before the output layer; what the words and the output take waits for no state."""
        state, memory = self.start(encoded)
        words, now = self.dropout(self.words(tokens), state.noise.word), state  # (B, T, E)
        steps: list[Moved] = []
        with gathered(self, words):
            for drive in self.cells[0].drive(words).unbind(1):  # T × (B, G)
                steps.append(self._recur(drive, now, memory))
                now = steps[-1].state
        columns = zip(*((one.query, one.state.layers[0][0], one.context, one.weights) for one in steps), strict=True)
        queries, states, contexts, weights = (torch.stack(column, 1) for column in columns)  # (B, T, ·)
        return Seen(queries, states, contexts, words, self._readout(states, contexts, words, state), weights)

    def _recur(self, drive: Tensor, state: State, memory: Any) -> Moved:
        reads, writes = self.cells
        between: CellState = reads(drive, state.layers[0], state.noise.states[0])
        attended = self.attention(between[0][:, None], memory, state.trace)
        context, weights = attended.context[:, 0], attended.weights[:, 0]  # (B, V), (B, S)
        after: CellState = writes(writes.drive(context), between, state.noise.states[1])
        trace = state.trace.after(weights) if state.trace is not None else None
        return Moved(between[0], State((after,), None, trace, state.noise), context, weights)

    def _readout(self, state: Tensor, context: Tensor, word: Tensor, begun: State) -> Tensor:
        return cast(Tensor, self.dropout(self.output.readout(state, context, word), begun.noise.readout))  # (…, R)
