"""Attention over a tape: all states and carries that an LSTM has left behind, instead of the last ones alone."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.softmax import masked_softmax
from regard.fast.gathering import Repeated


class Tape(NamedTuple):
    """What may be looked back at; keys are computed once per entry, not per step."""

    entries: Tensor  # (B, t, 2H)  [h_i; c_i]
    keys: Tensor  # (B, t, A)
    mask: Tensor | None = None  # (B, t)  None: all may be read


class Recalled(NamedTuple):
    """One look back."""

    state: Tensor  # (B, H)  h̃_t
    carry: Tensor  # (B, H)  c̃_t
    weights: Tensor  # (B, t)  s_ti


def recall(weights: Tensor, tape: Tape) -> Recalled:
    """[h̃_t; c̃_t] = Σ_i s_ti [h_i; c_i]"""
    state, carry = (weights[:, None] @ tape.entries)[:, 0].chunk(2, -1)  # (B, H), (B, H)
    return Recalled(state, carry, weights)


class TapeAttention(nn.Module):
    """a_ti = v · tanh(W_h h_i + W_x x_t + W_h̃ h̃_{t-1}),   s_t = softmax_i a_ti,   [h̃_t; c̃_t] = Σ_i s_ti [h_i; c_i]
    Cheng, Dong and Lapata 2016, eq. 4–6; over the tapes of a source, eq. 10–12

    Nothing is recalled from an empty tape: h̃ and c̃ are zero.
    """

    def __init__(self, input_size: int, size: int, compare: int):
        super().__init__()
        self.size, self.compare = size, compare
        self.W_h = Repeated(size, compare)
        self.W_x = nn.Linear(input_size, compare, bias=False)
        self.W_last = Repeated(size, compare, bias=False)
        self.v = nn.Linear(compare, 1, bias=False)

    def empty(self, like: Tensor) -> Tape:
        """A tape for as many rows as `like` (B, …)"""
        return Tape(like.new_zeros(len(like), 0, 2 * self.size), like.new_zeros(len(like), 0, self.compare))

    def record(self, states: Tensor, carries: Tensor, mask: Tensor) -> Tape:
        """A whole tape at once, (B, S, H) each, of which some places are padding."""
        return Tape(torch.cat([states, carries], -1), self.W_h(states), mask)

    def extend(self, tape: Tape, state: Tensor, carry: Tensor) -> Tape:
        """The tape with one more entry, (B, H) each."""
        entry = torch.cat([state, carry], -1)[:, None]  # (B, 1, 2H)
        key = self.W_h(state)[:, None]  # (B, 1, A)
        return Tape(torch.cat([tape.entries, entry], 1), torch.cat([tape.keys, key], 1), tape.mask)

    def ask(self, inputs: Tensor) -> Tensor:
        """W_x x_t, the part of a query that waits for no state: (…, I) -> (…, A)"""
        asked: Tensor = self.W_x(inputs)
        return asked

    def forward(self, asked: Tensor, last: Tensor, tape: Tape) -> Recalled:
        """W_x x_t (B, A) and h̃_{t-1} (B, H) against every entry of the tape."""
        query = self.W_last(last, asked)  # (B, A)
        energy = self.v((tape.keys + query[:, None]).tanh()).squeeze(-1)  # (B, t)
        weights = energy.softmax(-1) if tape.mask is None else masked_softmax(energy, tape.mask)  # (B, t)
        return recall(weights, tape)
