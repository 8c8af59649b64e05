"""Encoded → symbols, one at a time, reading the source through an attention."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded, Mechanism, Memory, Trace
from regard.attention.score import AdditiveScore
from regard.attention.soft import Attention, FixedContext
from regard.cells import CellState, LSTMCell, make_cells
from regard.decoders.output import AttentionalOutput, Output
from regard.decoders.quick import QuickStep
from regard.decoders.start import Layers, Start
from regard.decoders.step import Decoded, State, Step
from regard.dropout import Dropout, Noise
from regard.fast.decoding import Arranged, Quick
from regard.fast.gathering import Repeated, gathered
from regard.fast.hearing import begins_here
from regard.fast.reading import Upper, read_all
from regard.fast.reciting import Recited, Weights, recite
from regard.fast.recurrence import lstm_states, own_loop, uses_own_loop
from regard.fast.switch import allowed, wanted
from regard.losses import Told, Wanted, readout_cross_entropy

COMPARED = 1 << 22  # numbers in the comparisons of queries with keys that are made at once


class Recurred(NamedTuple):
    state: State
    context: Tensor  # (B, V)
    readout: Tensor | None  # (B, R), where the recurrence needed it
    weights: Tensor  # (B, S)


class Unrolled(NamedTuple):
    """All steps of given targets, before the output."""

    states: Tensor  # (B, T, H)
    contexts: Tensor  # (B, T, V)
    weights: Tensor | None  # (B, T, S), unless nobody looks
    readouts: Tensor | None  # (B, T, R), where the recurrence needed them


class Seen(NamedTuple):
    """What goes into the output of one step (B, ·), or of all steps of given targets (B, T, ·)."""

    query: Tensor  # (…, H)  the state that asked
    state: Tensor  # (…, H)  s_t
    context: Tensor  # (…, V)  c_t
    word: Tensor  # (…, E)  E(y_{t-1})
    readout: Tensor  # (…, R)
    weights: Tensor  # (…, S)  α_t


class RecurrentDecoder(nn.Module):
    """A query may be taken from the `previous` state, and then the context enters the cell (Bahdanau et al. 2015):
        c_t = attend(s_{t-1}),  s_t = RNN(s_{t-1}, [E(y_{t-1}); c_t]),  p(y_t) = output(s_t, c_t, E(y_{t-1}))
    or from the `current` one, and then the context enters the output only (Luong et al. 2015):
        s_t = RNN(s_{t-1}, [E(y_{t-1}); h̃_{t-1}]),  c_t = attend(s_t),  p(y_t) = output(s_t, c_t, E(y_{t-1}))
    where the last readout h̃_{t-1} is there under input feeding, which works with both. Of several layers s_t is the top
    one; with residuals each layer adds itself to those below, so s_t is their sum.
    """

    def __init__(
        self,
        symbols: int,
        embed: int,
        size: int,
        attention: Mechanism,
        output: Output,
        start: Start,
        kind: str = "lstm",
        layers: int = 1,
        query: str = "previous",
        input_feeding: bool = False,
        residual: bool = False,
        dropout: Dropout | None = None,
    ):
        super().__init__()
        self.attention = attention
        self.output = output
        self.first = start
        self.words = nn.Embedding(symbols, embed, padding_idx=0)
        self.cells = make_cells(kind, [embed] + [size] * (layers - 1), size)
        gates = self.cells[0].gates * size
        early = query == "previous" and self.attention.size > 0
        self.context_drive = Repeated(self.attention.size, gates, bias=False) if early else None
        self.feed_drive = Repeated(self.output.size, gates, bias=False) if input_feeding else None
        self.residual = residual
        self.dropout = dropout or Dropout(0.0)
        self._arranged: Arranged | None = None  # of `quick`, kept for as long as the weights are the same

    @property
    def attends(self) -> bool:
        return self.attention.attends

    def start(self, encoded: Encoded) -> tuple[State, Any]:
        layers: Layers = self.first(encoded)
        blank = layers[0][0]  # (B, H)
        feed = blank.new_zeros(blank.size(0), self.output.size) if self.feed_drive is not None else None
        looks_back = self.attention.looks_back
        trace = Trace.begin(encoded.mask, encoded.values.dtype, encoded.grid) if looks_back else None
        noise = self.dropout.noise(blank, len(layers), self.words.embedding_dim, self.output.size)
        return State(layers, feed, trace, noise), self.attention.remember(encoded)

    def step(self, tokens: Tensor, state: State, memory: Any) -> Step:
        """y_{t-1} in, p(y_t) out: search calls this, and it equals one step of `forward`."""
        seen, state = self.move(tokens, state, memory)
        return Step(self.output.logits(seen.readout), state, seen.weights)

    def move(self, tokens: Tensor, state: State, memory: Any) -> tuple[Seen, State]:
        """A step before its output layer."""
        word = self.dropout(self.words(tokens), state.noise.word)  # (B, E)
        recurred = self._recur(self.cells[0].drive(word), word, state, memory)
        top, readout = self._top(recurred.state.layers), recurred.readout  # (B, H), (B, R)
        if readout is None:
            readout = self._readout(top, recurred.context, word, state.noise)
        query = top if self.context_drive is None else self._top(state.layers)  # (B, H)
        return Seen(query, top, recurred.context, word, readout, recurred.weights), recurred.state

    def forward(self, tokens: Tensor, encoded: Encoded) -> Decoded:
        """y_0 … y_{T-1} in, p(y_1) … p(y_T) out."""
        readouts, weights = self.readouts(tokens, encoded, looked=True)
        return Decoded(self.output.logits(readouts), cast(Tensor, weights))

    def loss(self, tokens: Tensor, encoded: Encoded, wanted: Wanted, looked: bool) -> Told:
        """−Σ_t log p(y_t) from readouts, never holding all logits; the reference is by `forward`."""
        readouts, weights = self.readouts(tokens, encoded, looked)
        return Told(readout_cross_entropy(readouts, self.output.O, wanted), weights)

    def readouts(self, tokens: Tensor, encoded: Encoded, looked: bool = False) -> tuple[Tensor, Tensor | None]:
        """All steps up to the output layer, (B, T, R), and the weights (B, T, S), sure to be there if somebody looks.

        Whatever does not wait for a state is done for all steps at once.
        """
        recited = self._recite(tokens, encoded)
        if recited is not None:
            return recited.readouts.transpose(0, 1), recited.weights.transpose(0, 1)
        state, memory = self.start(encoded)
        words = self.dropout(self.words(tokens), state.noise.word)  # (B, T, E)
        unrolled = self._unroll(words, state, memory, looked)
        return cast(Tensor, unrolled.readouts), unrolled.weights

    def _recite(self, tokens: Tensor, encoded: Encoded) -> Recited | None:
        """The same in one call, for the kind of decoder that fast.reciting spells out."""
        attention, output = self.attention, self.output
        reads = isinstance(attention, Attention) and attention.is_additive and not attention.looks_back
        reads = reads and isinstance(output, AttentionalOutput) and self.context_drive is not None
        plain = self._bare() and len(self.cells) == 1 and not self.dropout.draws_masks
        if not (reads and plain and begins_here(self.words, tokens)):
            return None
        score, (cell,) = cast(AdditiveScore, cast(Attention, attention).score), cast("Sequence[LSTMCell]", self.cells)
        mix, drive = cast(AttentionalOutput, output).W_c, cast(Repeated, self.context_drive)
        weights = Weights(
            *(self.words.weight, score.U.weight, score.U.bias, score.W.weight, score.v.weight),
            *(cell.W.weight, cell.W.bias, cell.U.bias, drive.weight, cell.U.weight, mix.weight, mix.bias),
        )
        first, draws = self.first.flat(encoded), (self.dropout.draws(), self.dropout.draws())
        return recite(tokens, encoded.values, encoded.mask, first, weights, *draws)

    def see(self, tokens: Tensor, encoded: Encoded) -> Seen:
        """All steps before the output layer, with everything that was seen on the way."""
        state, memory = self.start(encoded)
        words = self.dropout(self.words(tokens), state.noise.word)  # (B, T, E)
        states, contexts, weights, readouts = self._unroll(words, state, memory, looked=True)
        before = torch.cat([self._top(state.layers)[:, None], states[:, :-1]], 1)  # (B, T, H)
        queries = states if self.context_drive is None else before
        return Seen(queries, states, contexts, words, cast(Tensor, readouts), cast(Tensor, weights))

    def _unroll(self, words: Tensor, state: State, memory: Any, looked: bool) -> Unrolled:
        unrolled = self._at_once(words, state, memory, looked) or self._by_steps(words, state, memory)
        if unrolled.readouts is not None:
            return unrolled
        return unrolled._replace(readouts=self._readout(unrolled.states, unrolled.contexts, words, state.noise))

    def _by_steps(self, words: Tensor, state: State, memory: Any) -> Unrolled:
        """The reference: step by step, for every kind of decoder."""
        drives = self.cells[0].drive(words).unbind(1)  # T × (B, G)
        steps = []
        with gathered(self, words):
            for drive, word in zip(drives, words.unbind(1), strict=True):
                steps.append(self._recur(drive, word, state, memory))
                state = steps[-1].state
        fed = [step.readout for step in steps if step.readout is not None]
        return Unrolled(
            torch.stack([self._top(step.state.layers) for step in steps], 1),
            torch.stack([step.context for step in steps], 1),
            torch.stack([step.weights for step in steps], 1),
            torch.stack(fed, 1) if fed else None,
        )

    def _bare(self) -> bool:
        """Nothing but LSTM layers: what the fast loops know."""
        lstm = all(isinstance(cell, LSTMCell) for cell in self.cells)
        return lstm and self.feed_drive is None and not self.residual

    def _reads_then_moves(self, memory: Any) -> bool:
        """Whether this is the kind of decoder that fast.reading and fast.decoding spell out."""
        reads = self.context_drive is not None and isinstance(self.attention, Attention)
        return reads and self._bare() and cast(Attention, self.attention).reads_in_one_pass(memory)

    def _at_once(self, words: Tensor, state: State, memory: Any, looked: bool) -> Unrolled | None:
        """The same with the loop inside one node of the graph, where such a node has been written."""
        if not (allowed(words) and state.noise.readout is None):
            return None
        if wanted(words) and self._reads_then_moves(memory):
            return self._read_then_move(words, state, memory)
        fixed = isinstance(self.attention, FixedContext)  # the only context that no state changes
        waits = self.attention.looks_back or (self.context_drive is not None and not fixed)
        waits |= self.context_drive is not None and uses_own_loop(words)  # which takes no context
        return None if waits or not self._bare() else self._move_then_read(words, state, memory, looked)

    def _move_then_read(self, words: Tensor, state: State, memory: Any, looked: bool) -> Unrolled:
        """Where no state waits for what attention reads, all states come first, then all readings."""
        vectors = words.transpose(0, 1)  # (T, B, E)
        layers = zip(cast("Sequence[LSTMCell]", self.cells), state.layers, strict=True)
        for number, (cell, (first, carry)) in enumerate(layers):
            inputs = self.dropout(vectors) if number else vectors  # (T, B, E or H)
            if uses_own_loop(inputs):
                vectors = own_loop(inputs, cell.W, cell.U, first, carry)  # (T, B, H)
                continue
            drives = nn.functional.linear(inputs, cell.W.weight, cell.W.bias + cell.U.bias)  # (T, B, G)
            if number == 0 and self.context_drive is not None:  # the same context at every step
                drives = drives + self.context_drive(self.attention(first[:, None], memory).context[:, 0])
            vectors, _ = lstm_states(drives, cell.U.weight, first, carry)  # (T, B, H)
        states = vectors.transpose(0, 1)  # (B, T, H)
        some = torch.split(states, self._steps_at_once(states, memory), 1)
        if isinstance(self.attention, Attention) and not looked:
            contexts = torch.cat([self.attention.contexts(few, memory) for few in some], 1)
            return Unrolled(states, contexts, None, None)
        read = [self.attention(few, memory) for few in some]
        contexts, weights = (torch.cat(parts, 1) for parts in zip(*read, strict=True))
        return Unrolled(states, contexts, weights, None)

    def _steps_at_once(self, states: Tensor, memory: Any) -> int:
        """How many queries may be compared at once, if a comparison may be as wide as the state."""
        one = memory[0] if isinstance(memory, tuple) and not isinstance(memory, Memory) else memory
        places = one.mask.size(1) if isinstance(one, Memory) else 1
        return max(1, COMPARED // (len(states) * places * states.size(-1)))

    def _read_then_move(self, words: Tensor, state: State, memory: Any) -> Unrolled | None:
        attention, cells = cast(Attention, self.attention), cast("Sequence[LSTMCell]", self.cells)
        score, context_drive = cast(AdditiveScore, attention.score), cast(Repeated, self.context_drive)
        biases = [cell.W.bias + cell.U.bias for cell in cells]
        ahead = words.transpose(0, 1).contiguous()  # (T, B, E)
        uppers = [
            Upper(cell.W.weight, bias, self.dropout.fresh(ahead.new_empty(*ahead.shape[:2], cell.size)))
            for cell, bias in zip(cells[1:], biases[1:], strict=True)
        ]
        read = read_all(
            ahead,
            memory.values,
            memory.keys,
            memory.mask,
            (cells[0].W.weight, biases[0]),
            score.W.weight,
            score.v.weight[0],
            context_drive.weight,
            [(layer[0], layer[1]) for layer in state.layers],
            [cell.U.weight for cell in cells],
            uppers,
        )
        if read is None:
            return None
        readouts = None
        if isinstance(self.output, AttentionalOutput):
            readouts = self.dropout(self.output.mix(read.seen)).transpose(0, 1)  # (B, T, R)
        contexts, states = torch.split(read.seen.transpose(0, 1), [attention.size, cells[0].size], -1)  # (B, T, …)
        return Unrolled(states, contexts, read.weights.transpose(0, 1), readouts)

    def quick(self, memory: Any) -> QuickStep | None:
        """Steps for search without gradients over these sources, where a fast spelling has been written."""
        if torch.is_grad_enabled() or self.training or not self._reads_then_moves(memory):
            return None
        attention, cell = cast(Attention, self.attention), cast(LSTMCell, self.cells[0])
        score, drive = cast(AdditiveScore, attention.score), cast(Repeated, self.context_drive)
        weights = [self.words.weight, score.W.weight, score.v.weight[0], drive.weight]
        weights += [cell.W.weight, cell.W.bias, cell.U.bias, cell.U.weight]
        if isinstance(self.output, AttentionalOutput):
            weights += [*self.output.W_c.parameters(), *self.output.O.parameters()]
        if self._arranged is None or not self._arranged.fits(weights):
            self._arranged = Arranged(weights)
        first = Quick(memory.values, memory.keys, memory.mask, self._arranged)
        upper = cast("list[LSTMCell]", list(self.cells)[1:])
        return QuickStep(self.words, upper, self.output, first)

    def _recur(self, drive: Tensor, word: Tensor, state: State, memory: Any) -> Recurred:
        """A time step of this decoder: the reference for what fast.reading and fast.decoding spell out again."""
        attended = None
        if self.context_drive is not None:
            attended = self.attention(self._top(state.layers)[:, None], memory, state.trace)
            drive = self.context_drive(attended.context[:, 0], drive)  # (B, G)
        if self.feed_drive is not None:
            drive = self.feed_drive(state.feed, drive)
        layers = self._climb(drive, state)
        if attended is None:
            attended = self.attention(self._top(layers)[:, None], memory, state.trace)
        context, weights = attended.context[:, 0], attended.weights[:, 0]  # (B, V), (B, S)
        feed = self._readout(self._top(layers), context, word, state.noise) if self.feed_drive is not None else None
        trace = state.trace.after(weights) if state.trace is not None else None
        return Recurred(State(layers, feed, trace, state.noise), context, feed, weights)

    def _climb(self, drive: Tensor, state: State) -> Layers:
        """One step of every layer, from the bottom up."""
        layers: list[CellState] = []
        masks = zip(state.noise.states, state.noise.inputs, strict=True)
        for cell, before, (past, below) in zip(self.cells, state.layers, masks, strict=True):
            if layers:
                drive = cell.drive(self.dropout(self._top(layers), below))
            layers.append(cell(drive, before, past))
        return tuple(layers)

    def _top(self, layers: Sequence[CellState]) -> Tensor:
        """What these layers show to the outside."""
        return torch.stack([layer[0] for layer in layers]).sum(0) if self.residual else layers[-1][0]  # (B, H)

    def _readout(self, state: Tensor, context: Tensor, word: Tensor, noise: Noise) -> Tensor:
        readout: Tensor = self.dropout(self.output.readout(state, context, word), noise.readout)  # (…, R)
        return readout
