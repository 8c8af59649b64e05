"""Steps of a recurrent decoder for search, as regard.fast spells them out."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from regard.cells import CellState, LSTMCell
from regard.decoders.output import Output
from regard.decoders.step import State, Step
from regard.fast.beam import Found, Sought, beam_all
from regard.fast.decoding import Quick
from regard.fast.greedy import Walked, walk_all
from regard.fast.packed import search_inside


class QuickStep:
    """What `RecurrentDecoder.step` does, for rows that read the sources with the given numbers."""

    def __init__(self, words: nn.Embedding, upper: Sequence[LSTMCell], output: Output, first: Quick):
        self.words, self.upper, self.output = words, upper, output
        self.first = first  # attention and the lowest layer

    def __call__(self, tokens: Tensor, state: State, sources: Tensor) -> Step:
        """Raises OutOfReach where only the plain step is right."""
        before = state.layers
        state_before, carry_before = before[0]
        context, weights, moved, carry = self.first(
            tokens, before[-1][0], state_before, carry_before, sources, state.past
        )
        layers: list[CellState] = [(moved, carry)]
        for cell, past in zip(self.upper, before[1:], strict=True):
            layers.append(cell(cell.drive(layers[-1][0]), past))
        readout = self.first.readout(context, layers[-1][0])  # (R, R)
        if readout is None:
            readout = self.output.readout(layers[-1][0], context, self.words(tokens))
        after = state._replace(layers=tuple(layers), past=torch.arange(len(tokens)))
        return Step(self.output.logits(readout), after, weights)

    def walk(
        self, state: State, begin: int, end: int, forbidden: Sequence[int], longest: Sequence[int]
    ) -> Walked | None:
        """The likeliest symbol again and again, for all sources, where that has been spelt out as one loop."""
        first, carry = state.layers[0]
        return walk_all(self.first, first, carry, begin, end, forbidden, longest) if self._inside(state) else None

    def spread(self, state: State, sought: Sought) -> Found | None:
        """The best few answers to all sources by beam search, where that has been spelt out as one loop."""
        first, carry = state.layers[0]
        return beam_all(self.first, first, carry, sought) if self._inside(state) else None

    def _inside(self, state: State) -> bool:
        return len(state.layers) == 1 and search_inside(state.layers[0][0].size(-1))
