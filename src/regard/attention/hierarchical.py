"""Attention at two levels: to the words within each turn of a conversation, and to the turns.

The words of all turns stand in one flat row of places, with borders between the turns that nobody reads.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.memory import Attended, Memory, Trace
from regard.attention.score import Score
from regard.attention.soft import Normalise
from regard.attention.softmax import masked_softmax


class Turns(NamedTuple):
    """A conversation as this attention sees it."""

    words: Memory  # of all turns; not to be read on borders
    states: Tensor  # (B, U, G)  g_u
    within: Tensor  # (B, U, S)  True where a word belongs to turn u


class HierarchicalAttention(nn.Module):
    """At every step, words first, then turns, after Xing et al. 2018 (HRAN):

        α_tuw = softmax_w f(q_t, h_uw),         c_tu = Σ_w α_tuw h_uw
        β_tu  = softmax_u f'(q_t, [g_u; c_tu]),  c_t = Σ_u β_tu c_tu

    where g_u is the state of the encoder of turns. The weights given are β_tu α_tuw, so that they sum to 1 over all
    words; those of one turn sum to β_tu. With one turn, β_t1 = 1, it is Attention. A turn without words has no weight.
    """

    attends = True
    looks_back = False

    def __init__(self, words: Score, turns: Score, value_size: int, normalise: Normalise = masked_softmax):
        super().__init__()
        self.size = value_size
        self.words = words  # of query and h_uw
        self.turns = turns  # of query and [g_u; c_tu]
        self.normalise = normalise

    def remember(self, encoded: Any) -> Turns:
        """Of what an encoder of two levels hands over: encoders.hierarchy.Levels."""
        keys = self.words.prepare(self.words.keys(encoded.values))  # (B, S, A)
        states = encoded.sentences.values  # (B, U, G)
        numbers = torch.arange(states.size(1), device=states.device)[:, None]  # (U, 1)
        within = (encoded.line[:, None] == numbers) & encoded.mask[:, None]  # (B, U, S)
        return Turns(Memory(encoded.values, keys, encoded.mask), states, within)

    def forward(self, query: Tensor, memory: Turns, trace: Trace | None = None) -> Attended:
        energy = self.words(query, memory.words.keys)  # (B, T, S)
        within = memory.within[:, None]  # (B, 1, U, S)
        word_weights = self.normalise(energy[:, :, None], within)  # (B, T, U, S)  α
        contexts = word_weights @ memory.words.values[:, None]  # (B, T, U, V)
        turn_energy = self._turn_energy(query, memory.states, contexts)  # (B, T, U)
        turn_weights = self.normalise(turn_energy, within.any(-1))[:, :, None]  # (B, T, 1, U)  β
        context, weights = turn_weights @ contexts, turn_weights @ word_weights  # (B, T, 1, V), (B, T, 1, S)
        return Attended(context[:, :, 0], weights[:, :, 0])

    def _turn_energy(self, query: Tensor, states: Tensor, contexts: Tensor) -> Tensor:
        """f'(q_t, [g_u; c_tu]): each step has keys of its own, so steps are rows of the batch."""
        batch, steps, turns, _ = contexts.shape
        joined = torch.cat([states[:, None].expand(-1, steps, -1, -1), contexts], -1)  # (B, T, U, G + V)
        keys = self.turns.keys(joined.flatten(0, 1))  # (B·T, U, A)
        energy = self.turns(query.flatten(0, 1)[:, None], keys)  # (B·T, 1, U)
        return energy.view(batch, steps, turns)
