"""A language model that may repeat one of its last words instead of choosing from the vocabulary."""

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.attention.pointer import mix, mixed, pointed, sentinel_gate
from regard.attention.softmax import masked_softmax
from regard.data.vocabulary import BEGIN, PAD
from regard.decoders.looking import Looked
from regard.decoders.recurrent import RecurrentDecoder
from regard.decoders.step import Decoded, Step
from regard.losses import Loss, Told, Wanted


class Windowed(NamedTuple):
    """The state of the decoder inside, and its last L words with what was made of each when it was read."""

    inner: Any
    words: Tensor  # (B, L)  PAD where there is none yet
    readouts: Tensor  # (B, L, R)


class Pointed(NamedTuple):
    """What the pointer says at every step."""

    weights: Tensor  # (B, T, T)  α_ti / (1 − g_t)
    gate: Tensor  # (B, T)  log g_t / (1 − g_t)


class SentinelDecoder(nn.Module):
    """q_t = tanh(W h_t + b),   [α_t; g_t] = softmax([q_t · h_i for the last L words y_i; q_t · s]),
    p(y_t) = g_t p_vocabulary(y_t) + Σ_{i: y_i = y_t} α_ti            Merity, Xiong, Bradbury and Socher 2016

    h_i is what the decoder inside made of y_i when it read it, its readout, and s, the sentinel, is learnt: its weight
    is the share that is left to the vocabulary. BEGIN is no word to point at.
    """

    look, before = "copied from", "<vocabulary>"

    def __init__(self, decoder: RecurrentDecoder, window: int, supervised: bool = False):
        super().__init__()
        self.decoder = decoder
        self.window = window
        self.supervised = supervised
        size = decoder.output.size
        self.query = nn.Linear(size, size)
        self.sentinel = nn.Linear(size, 1, bias=False)

    @property
    def attends(self) -> bool:
        return self.decoder.attends

    def start(self, encoded: Encoded) -> tuple[Windowed, Any]:
        inner, memory = self.decoder.start(encoded)
        first = inner.layers[0][0]  # (B, H)
        words = torch.full((len(first), self.window), PAD, device=first.device)
        return Windowed(inner, words, first.new_zeros(len(first), self.window, self.decoder.output.size)), memory

    def step(self, tokens: Tensor, state: Windowed, memory: Any) -> Step:
        seen, inner = self.decoder.move(tokens, state.inner, memory)
        words = torch.cat([state.words[:, 1:], tokens[:, None]], 1)  # (B, L)
        readouts = torch.cat([state.readouts[:, 1:], seen.readout[:, None]], 1)  # (B, L, R)
        query = self.query(seen.readout).tanh()  # (B, R)
        energy = (readouts @ query[:, :, None])[:, :, 0]  # (B, L)
        gate, weights = self._point(query, energy, _pointable(words))
        log_probs = self._logits(seen.readout).log_softmax(-1)  # (B, N)
        return Step(mix(log_probs, weights, words, gate), Windowed(inner, words, readouts), seen.weights)

    def quick(self, memory: Any) -> None:
        return None

    def forward(self, tokens: Tensor, encoded: Encoded) -> Decoded:
        readouts, weights = self.decoder.readouts(tokens, encoded, looked=True)  # (B, T, R), (B, T, S)
        log_probs, pointer = self._logits(readouts).log_softmax(-1), self._pointer(tokens, readouts)  # (B, T, N), …
        return Decoded(mix(log_probs, pointer.weights, tokens[:, None], pointer.gate), cast(Tensor, weights))

    def loss(self, tokens: Tensor, encoded: Encoded, wanted: Wanted, looked: bool) -> Told:
        """−Σ_t [(1 − ε) log p(y_t) + ε mean_n log p_vocabulary(n)], never holding the mixture of all symbols; smoothing
        holds back what is drawn from the vocabulary only. Supervised, the pointer must find y_t or leave it alone:

        − Σ_t log(g_t + Σ_{i: y_i = y_t} α_ti)            Merity et al. 2016, 2.5
        """
        readouts, weights = self.decoder.readouts(tokens, encoded, looked)  # (B, T, R), (B, T, S)
        pointer, real = self._pointer(tokens, readouts), wanted.targets != PAD  # …, (B, T)
        logits, targets = self._logits(readouts[real]), wanted.targets[real]  # (M, N), (M,)
        copied = pointed(pointer.weights, tokens, wanted.targets)[real].to(logits.dtype)  # (M,)
        gate = pointer.gate[real].to(logits.dtype)  # (M,)
        drawn = logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(-1)  # (M,)
        total = nll = -mixed(drawn, copied, gate).sum()
        if wanted.smoothing > 0:
            uniform = (logits.logsumexp(-1) - logits.mean(-1)).sum()
            total = (1 - wanted.smoothing) * nll + wanted.smoothing * uniform
        if self.supervised:
            total = total - mixed(torch.zeros_like(drawn), copied, gate).sum()
        return Told(Loss(total, nll.detach(), real.sum()), weights)

    def look_back(self, tokens: Tensor, encoded: Encoded) -> Looked:
        """Where a word may have come from when it was written; it is said to be copied if more than half of it was."""
        if tokens.size(1) == 1:  # nothing was written: T = 0
            return Looked(self.sentinel.weight.new_zeros(len(tokens), 0, 0), tokens[:, 1:])
        readouts, _ = self.decoder.readouts(tokens[:, :-1], encoded)  # (B, T, R): those that wrote y_1 … y_T
        pointer, written = self._pointer(tokens[:, :-1], readouts), tokens[:, 1:]  # …, (B, T)
        log_probs = self._logits(readouts).log_softmax(-1)  # (B, T, N)
        vocabulary = pointer.gate.sigmoid()  # (B, T)  g_t
        weights = pointer.weights * (1 - vocabulary)[:, :, None]  # (B, T, T)  α_ti; BEGIN, at i = 0, has none
        there = weights * (tokens[:, None, :-1] == written[:, :, None])  # (B, T, T)
        drawn = vocabulary * log_probs.gather(-1, written[:, :, None])[:, :, 0].exp()  # (B, T)
        copied = torch.where(there.sum(-1) > drawn, there.argmax(-1), 0)  # (B, T)
        return Looked(torch.cat([vocabulary[:, :, None], weights[:, :, 1:]], -1), copied)

    def _logits(self, readouts: Tensor) -> Tensor:
        logits = self.decoder.output.logits(readouts)  # (…, N)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

    def _pointer(self, tokens: Tensor, readouts: Tensor) -> Pointed:
        """Over the words read up to each step."""
        query = self.query(readouts).tanh()  # (B, T, R)
        energy = query @ readouts.transpose(1, 2)  # (B, T, T)
        places = torch.arange(tokens.size(1), device=tokens.device)
        back = places[:, None] - places  # (T, T)  how many steps ago
        reach = (back >= 0) & (back < self.window)  # (T, T)
        gate, weights = self._point(query, energy, _pointable(tokens)[:, None] & reach)
        return Pointed(weights, gate)

    def _point(self, query: Tensor, energy: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log odds of g (…) and weights (…, L) from q (…, R) and its energies (…, L)."""
        gate = sentinel_gate(self.sentinel(query).squeeze(-1), energy, mask)
        return gate, masked_softmax(energy, mask)


def _pointable(words: Tensor) -> Tensor:
    return (words != PAD) & (words != BEGIN)
