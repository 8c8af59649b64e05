"""Attention without recurrence: a feed-forward language model that reads the source (ABS)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.attention.softmax import masked_softmax
from regard.data.vocabulary import BEGIN
from regard.decoders.step import Decoded, Step
from regard.dropout import Dropout


class Smoothed(NamedTuple):
    """What the decoder remembers of its sources."""

    keys: Tensor  # (B, S, V)  x̃_j
    values: Tensor  # (B, S, V)  x̄_j
    mask: Tensor  # (B, S)


class ABSDecoder(nn.Module):
    """p(y_{t+1} | y_c, x) ∝ exp(V h + W enc(x, y_c)),   h = tanh(U ỹ_c),   ỹ_c = [E y_{t-C+1}; …; E y_t]
    enc(x, y_c) = Σ_j p_j x̄_j,   p = softmax_j(x̃_j · P ỹ'_c),   ỹ'_c = [G y_{t-C+1}; …; G y_t]
    x̄_j = the mean of the x̃_i at real places with |i − j| ≤ Q            Rush, Chopra & Weston 2015, 3.1–3.2

    Where the paper divides the window's sum by Q, this is the mean, also at the ends of a sentence. The state is the
    last C symbols; before the first there are only BEGINs.
    """

    attends = True

    def __init__(
        self,
        symbols: int,
        embed: int,
        size: int,
        value_size: int,
        order: int,
        reach: int,
        normalise: Callable[[Tensor, Tensor], Tensor] = masked_softmax,
        dropout: Dropout | None = None,
    ):
        super().__init__()
        self.order, self.reach = order, reach  # C, Q
        self.E = nn.Embedding(symbols, embed, padding_idx=0)
        self.G = nn.Embedding(symbols, embed, padding_idx=0)
        self.U = nn.Linear(order * embed, size)
        self.P = nn.Linear(order * embed, value_size, bias=False)
        self.V = nn.Linear(size, symbols)
        self.W = nn.Linear(value_size, symbols, bias=False)
        self.normalise = normalise
        self.dropout = dropout or Dropout(0.0)

    def start(self, encoded: Encoded) -> tuple[Tensor, Smoothed]:
        last = torch.full((len(encoded.mask), self.order), BEGIN, device=encoded.mask.device)  # (B, C)
        return last, self._smooth(encoded)

    def step(self, tokens: Tensor, state: Tensor, memory: Smoothed) -> Step:
        last = torch.cat([state[:, 1:], tokens[:, None]], 1)  # (B, C)
        decoded = self._read(last[:, None], memory)
        return Step(decoded.logits[:, 0], last, decoded.weights[:, 0])

    def quick(self, memory: Smoothed) -> None:
        return None

    def forward(self, tokens: Tensor, encoded: Encoded) -> Decoded:
        """All steps at once: none waits for another."""
        before, memory = self.start(encoded)
        lasts = torch.cat([before[:, 1:], tokens], 1).unfold(1, self.order, 1)  # (B, T, C)
        return self._read(lasts, memory)

    def _read(self, lasts: Tensor, memory: Smoothed) -> Decoded:
        """The last C symbols of each step (B, T, C) -> logits (B, T, N) and weights (B, T, S)"""
        hidden = self.U(self.dropout(self.E(lasts)).flatten(2)).tanh()  # (B, T, H)
        query = self.P(self.dropout(self.G(lasts)).flatten(2))  # (B, T, V)
        weights = self.normalise(query @ memory.keys.transpose(1, 2), memory.mask[:, None])  # (B, T, S)
        context = weights @ memory.values  # (B, T, V)
        return Decoded(self.V(self.dropout(hidden)) + self.W(self.dropout(context)), weights)

    def _smooth(self, encoded: Encoded) -> Smoothed:
        places = torch.arange(encoded.mask.size(1), device=encoded.mask.device)
        near = (places[:, None] - places).abs() <= self.reach  # (S, S)
        near = (near & encoded.mask[:, None]).to(encoded.values.dtype)  # (B, S, S)
        means = near @ encoded.values / near.sum(-1, keepdim=True).clamp(min=1)  # (B, S, V)
        return Smoothed(encoded.values, means, encoded.mask)
