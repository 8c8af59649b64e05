"""Hard attention: a step looks at one place, drawn from the weights, instead of at a little of all."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.memory import Attended, Encoded, Trace
from regard.attention.soft import Attention


class Draw(NamedTuple):
    """The chance of one step."""

    race: Tensor  # (B, S)  see `winner`
    expected: Tensor  # (B,)  True: this source is read by the weights themselves, as soft attention reads


class Drawn(NamedTuple):
    """What a hard attention remembers."""

    read: Any  # what the attention inside remembers
    values: Tensor  # (B, S, V)
    draw: Draw | None = None  # None: nothing is left to chance


class HardAttention(nn.Module):
    """s̃_t ~ Multinoulli(α_t),   c_t = h_{s̃_t}            Xu et al. 2015, 4.1

    The weights given are α_t, the odds of every place, and not the place that was drawn: they say more, terms look back
    at them and losses on them have gradients. Without a draw c_t is the likeliest place's value, so that answers are
    the same each time. A choice has no gradient: decoders.hard learns it.
    """

    attends = True

    def __init__(self, attention: Attention):
        super().__init__()
        self.attention = attention
        self.size, self.looks_back = attention.size, attention.looks_back

    def remember(self, encoded: Encoded) -> Drawn:
        return Drawn(self.attention.remember(encoded), encoded.values)

    def forward(self, query: Tensor, memory: Drawn, trace: Trace | None = None) -> Attended:
        context, weights = self.attention(query, memory.read, trace)  # (B, T, V), (B, T, S)
        if memory.draw is None:
            return Attended(_values_at(weights.argmax(-1), weights, memory.values), weights)
        race, expected = memory.draw
        drawn = _values_at(winner(weights, race[:, None]), weights, memory.values)  # (B, T, V)
        return Attended(torch.where(expected[:, None, None], context, drawn), weights)


def start_race(like: Tensor) -> Tensor:
    """A number for each place of each step, so that `winner` draws each place as often as its weight says."""
    return torch.empty_like(like).exponential_().clamp(min=torch.finfo(like.dtype).tiny)


def winner(weights: Tensor, race: Tensor) -> Tensor:
    """s̃ ~ Multinoulli(α): with r_j ~ Exp(1), r_j / α_j is how long a clock of rate α_j takes, and the first to ring is
    place j with probability α_j. (…, S), (…, S) -> (…)"""
    return (weights / race).argmax(-1)


def _values_at(place: Tensor, weights: Tensor, values: Tensor) -> Tensor:
    """h at the places (B, T), and zero where there is nothing to look at: (B, T, V)"""
    there = weights.gather(-1, place[:, :, None]) > 0  # (B, T, 1)
    return values.gather(1, place[:, :, None].expand(-1, -1, values.size(-1))) * there
