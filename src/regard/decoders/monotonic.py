"""Exact hard monotonic attention: the decoder stands at one source place at a time and never walks back."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded, Memory
from regard.attention.monotonic import MonotonicTransition, reweigh
from regard.cells import CellState, make_cells
from regard.decoders.output import Output
from regard.decoders.start import Layers, Start
from regard.decoders.step import Decoded, Step
from regard.dropout import Dropout, Noise


class Standing(NamedTuple):
    """Where the decoder may stand, given what it has written."""

    layers: Layers  # the cells' states, each (B, H)
    prior: Tensor  # (B, S)     p(a_t = j | y_<t)
    emission: Tensor | None  # (B, S, N)  log p(y_t | a_t = j, y_<t) for all y_t; None before the first step
    noise: Noise  # the masks of variational dropout


class MonotonicDecoder(nn.Module):
    """p(y_t | y_<t) = Σ_j p(a_t = j | y_<t) p(y_t | s_t, h_j),  s_t = RNN(s_{t-1}, E(y_{t-1})),
    where a_t ≥ a_{t-1} is summed out exactly by the forward algorithm            Wu & Cotterell 2019

    The weights it shows are p(a_t = j | y_<t), those that mix the predictions of the places.
    """

    attends = True

    def __init__(
        self,
        symbols: int,
        embed: int,
        size: int,
        transition: MonotonicTransition,
        output: Output,
        start: Start,
        kind: str = "lstm",
        layers: int = 1,
        dropout: Dropout | None = None,
    ):
        super().__init__()
        self.transition = transition
        self.output = output
        self.first = start
        self.words = nn.Embedding(symbols, embed, padding_idx=0)
        self.cells = make_cells(kind, [embed] + [size] * (layers - 1), size)
        self.dropout = dropout or Dropout(0.0)

    def start(self, encoded: Encoded) -> tuple[Standing, Memory]:
        memory = self.transition.remember(encoded)
        layers: Layers = self.first(encoded)
        noise = self.dropout.noise(layers[0][0], len(layers), self.words.embedding_dim, self.output.size)
        return Standing(layers, self.transition.begin(memory), None, noise), memory

    def step(self, tokens: Tensor, state: Standing, memory: Memory) -> Step:
        posterior = state.prior  # before the first symbol: all on the first place
        if state.emission is not None:
            chosen = tokens[:, None, None].expand(-1, state.emission.size(1), 1)  # (B, S, 1)
            posterior = reweigh(state.prior, state.emission.gather(2, chosen)[:, :, 0]).posterior  # (B, S)
        word = self.dropout(self.words(tokens), state.noise.word)  # (B, E)
        layers = self._climb(word, state)
        prior = self.transition(layers[-1][0], memory, posterior)  # (B, S)
        emission = self._emission(layers[-1][0], word, memory, state.noise)  # (B, S, N)
        # a place that cannot be reached has probability 0; its log is kept finite so that gradients stay finite
        log_prior = prior.clamp(min=torch.finfo(prior.dtype).tiny).log()
        mixed = torch.logsumexp(log_prior[:, :, None] + emission, 1)  # (B, N)  log p(y_t | y_<t)
        return Step(mixed, Standing(layers, prior, emission, state.noise), prior)

    def quick(self, memory: Memory) -> None:
        return None

    def forward(self, tokens: Tensor, encoded: Encoded) -> Decoded:
        state, memory = self.start(encoded)
        steps = []
        for token in tokens.unbind(1):
            steps.append(self.step(token, state, memory))
            state = steps[-1].state
        return Decoded(torch.stack([one.logits for one in steps], 1), torch.stack([one.weights for one in steps], 1))

    def _climb(self, word: Tensor, state: Standing) -> Layers:
        layers: list[CellState] = []
        masks = zip(state.noise.states, state.noise.inputs, strict=True)
        for cell, before, (past, below) in zip(self.cells, state.layers, masks, strict=True):
            read = self.dropout(layers[-1][0], below) if layers else word  # (B, H) or (B, E)
            layers.append(cell(cell.drive(read), before, past))
        return tuple(layers)

    def _emission(self, state: Tensor, word: Tensor, memory: Memory, noise: Noise) -> Tensor:
        """log p(y_t = n | a_t = j, y_<t) for every place and symbol."""
        places = memory.values.size(1)
        readout = self.output.readout(
            state[:, None].expand(-1, places, -1), memory.values, word[:, None].expand(-1, places, -1)
        )  # (B, S, R)
        return self.output.logits(self.dropout(readout, noise.readout)).log_softmax(-1)  # (B, S, N)
