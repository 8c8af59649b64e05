"""A decoder that writes or copies: what attention looks at may be written as it stands, known or not.

p(y_t) = g_t softmax(O h̃_t) + (1 − g_t) Σ_{j: x_j = y_t} α_tj

Two gates: one that state, context and last symbol decide (pointer-generator), and one that is a place of the
attention's own softmax (sentinel).
"""

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.attention.pointer import log_copied, mix, mixed, pointed
from regard.attention.soft import Attention
from regard.data.vocabulary import PAD, UNKNOWN
from regard.decoders.recurrent import RecurrentDecoder, Seen
from regard.decoders.step import Decoded, State, Step
from regard.losses import Loss, Told, Wanted


class Gate(nn.Module):
    """g_t = σ(w · [c_t; s_t; E(y_{t-1})] + b)            See et al. 2017, eq. 8

    Every gate is built as Name(state_size, context_size, embed) and gives the log odds of g_t.
    """

    def __init__(self, state_size: int, context_size: int, embed: int):
        super().__init__()
        self.w = nn.Linear(context_size + state_size + embed, 1)

    def forward(self, seen: Seen, values: Tensor, writer: RecurrentDecoder) -> Tensor:
        odds: Tensor = self.w(torch.cat([seen.context, seen.state, seen.word], -1))  # (B, T, 1)
        return odds[..., 0]  # (B, T)


class Sentinel(nn.Module):
    """g_t = exp e_t0 / (exp e_t0 + Σ_j exp e_tj),   e_t0 = f(q_t, h_0)            Merity et al. 2016, eq. 6

    One more place in the attention's softmax, with a learned value h_0 that its own score compares. The context is read
    with the weights of the real places, so these still sum to 1. See `sentinel_gate`; since α_tk = exp e_tk / Σ_j exp
    e_tj, the sum is known from the energy of any one place, and the heaviest is taken.
    """

    def __init__(self, state_size: int, context_size: int, embed: int):
        super().__init__()
        self.value = nn.Parameter(torch.zeros(context_size))  # h_0

    def forward(self, seen: Seen, values: Tensor, writer: RecurrentDecoder) -> Tensor:
        score = cast(Attention, writer.attention).score
        weight, place = seen.weights.max(-1)  # (B, T)
        heaviest = values.gather(1, place[..., None].expand(-1, -1, values.size(-1)))  # (B, T, V)
        query, one = seen.query.flatten(0, 1)[:, None], heaviest.flatten(0, 1)[:, None]  # (B·T, 1, ·)
        energy = score(query, score.keys(one)).view_as(weight)  # (B, T)  e_tk
        own = score(query, score.keys(self.value.expand_as(one))).view_as(weight)  # (B, T)  e_t0
        return own - (energy - weight.log())


class Copyable(NamedTuple):
    """What a copying decoder remembers of its sources."""

    read: Any  # what the attention remembers; None where all steps are read at once
    values: Tensor  # (B, S, V)
    symbols: Tensor  # (B, S)  the target symbol of each place
    room: Tensor  # (B, X)  as wide as the most symbols beyond the vocabulary that a source of the batch has


class Likely(NamedTuple):
    """How likely the wanted symbols are, and how likely by copying."""

    log_probs: Tensor  # (…)  log p(y_t)
    copied: Tensor  # (…)  log [(1 − g_t) Σ_{j: x_j = y_t} α_tj]


class CopyingDecoder(nn.Module):
    """A recurrent decoder with a gate between its output and its attention. Its logits are log p over N + X symbols."""

    attends = True

    def __init__(self, writer: RecurrentDecoder, gate: nn.Module):
        super().__init__()
        self.writer = writer
        self.gate = gate

    @property
    def symbols(self) -> int:
        return self.writer.words.num_embeddings  # N

    def start(self, encoded: Encoded) -> tuple[State, Copyable]:
        state, read = self.writer.start(encoded)
        return state, self._open(encoded, read)

    def step(self, tokens: Tensor, state: State, memory: Copyable) -> Step:
        seen, state = self.writer.move(self._known(tokens), state, memory.read)
        seen = Seen(*(one[:, None] for one in seen))  # (B, 1, ·)
        return Step(self._mixture(seen, memory)[:, 0], state, seen.weights[:, 0])

    def quick(self, memory: Copyable) -> None:
        return None

    def forward(self, tokens: Tensor, encoded: Encoded) -> Decoded:
        seen = self.writer.see(self._known(tokens), encoded)
        return Decoded(self._mixture(seen, self._open(encoded)), seen.weights)

    def loss(self, tokens: Tensor, encoded: Encoded, wanted: Wanted, looked: bool) -> Told:
        """−Σ_t [(1 − ε) log p(y_t) + ε mean_n log p_vocabulary(n)], and the weights (B, T, S). Smoothing holds back
        what is written from the vocabulary; it pulls neither at the pointer nor at the gate."""
        seen = self.writer.see(self._known(tokens), encoded)
        real = wanted.targets != PAD  # (B, T)
        logits = self._logits(seen.readout[real])  # (M, N)
        told = self._tell(logits, seen, encoded, wanted.targets, real)
        total = nll = -told.log_probs.sum()
        if wanted.smoothing > 0:
            uniform = (logits.logsumexp(-1) - logits.mean(-1)).sum()
            total = (1 - wanted.smoothing) * nll + wanted.smoothing * uniform
        return Told(Loss(total, nll.detach(), real.sum()), seen.weights)

    def tell(self, tokens: Tensor, encoded: Encoded, targets: Tensor) -> Likely:
        """y_<t (B, T) and y_t (B, T) -> (B, T) each"""
        seen = self.writer.see(self._known(tokens), encoded)
        every = torch.ones_like(targets, dtype=torch.bool)
        told = self._tell(self._logits(seen.readout[every]), seen, encoded, targets, every)
        return Likely(*(one.view_as(targets) for one in told))

    def _open(self, encoded: Encoded, read: Any = None) -> Copyable:
        symbols = cast(Tensor, encoded.symbols)  # (B, S)
        beyond = max(int(symbols.max()) + 1 - self.symbols, 0)
        return Copyable(read, encoded.values, symbols, encoded.values.new_zeros(len(symbols), beyond))

    def _tell(self, logits: Tensor, seen: Seen, encoded: Encoded, targets: Tensor, chosen: Tensor) -> Likely:
        """Of M chosen places (B, T), from logits (M, N), without ever holding all N + X probabilities of a step"""
        copied = pointed(seen.weights, cast(Tensor, encoded.symbols), targets)[chosen].to(logits.dtype)  # (M,)
        gate = self.gate(seen, encoded.values, self.writer)[chosen].to(logits.dtype)  # (M,)
        wanted = targets[chosen]  # (M,)
        own = logits.gather(1, self._known(wanted)[:, None])[:, 0] - logits.logsumexp(-1)  # (M,)
        by_copying = log_copied(copied, gate)  # (M,)
        return Likely(torch.where(wanted < self.symbols, mixed(own, copied, gate), by_copying), by_copying)

    def _mixture(self, seen: Seen, memory: Copyable) -> Tensor:
        """log p(y_t) of all symbols, (B, T, N + X)"""
        gate = self.gate(seen, memory.values, self.writer)  # (B, T)
        log_probs = self._logits(seen.readout).log_softmax(-1)  # (B, T, N)
        return mix(log_probs, seen.weights, memory.symbols[:, None], gate, memory.room.size(1))

    def _logits(self, readout: Tensor) -> Tensor:
        logits = self.writer.output.logits(readout)  # (…, N)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

    def _known(self, tokens: Tensor) -> Tensor:
        """What was copied from beyond the vocabulary is read as UNKNOWN."""
        return torch.where(tokens < self.symbols, tokens, UNKNOWN)


GATES: dict[str, type[nn.Module]] = {"gate": Gate, "sentinel": Sentinel}
