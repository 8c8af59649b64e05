"""What reads a passage for a question and points at its answer, with the loss inside; for spans and for blanks."""

from typing import NamedTuple, overload

import torch
from torch import Tensor, nn

from regard.attention.over import Over, attend_over
from regard.data.batching import Padded
from regard.decoders.span import Pointer, Rounds
from regard.dropout import Dropout
from regard.encoders.passage import CoattentionReader, PlainReader
from regard.encoders.recurrent import TextEncoder
from regard.losses import Loss

NOWHERE = -1  # in a rectangle of places: there is none


class Pointed(NamedTuple):
    rounds: Rounds
    weights: Tensor | None  # (B, N + 1, M + 1)  where each word of the question looked


class SpanReader(nn.Module):
    """p(s, e | passage, question) = p(s) p(e)"""

    def __init__(self, encoder: CoattentionReader | PlainReader, pointer: Pointer, longest: int):
        super().__init__()
        self.encoder = encoder
        self.pointer = pointer
        self.longest = longest  # places of an answer, at most

    @property
    def attends(self) -> bool:
        return self.encoder.attends

    @overload
    def forward(self, passage: Padded, question: Padded) -> Pointed: ...

    @overload
    def forward(self, passage: Padded, question: Padded, places: Tensor) -> Loss: ...

    def forward(self, passage: Padded, question: Padded, places: Tensor | None = None) -> Pointed | Loss:
        """With `places` (B, 2), first and last of the answer, only the loss is told: several processes share only
        what `forward` does."""
        fused = self.encoder(passage, question)
        rounds = self.pointer(fused.values, fused.mask)
        return Pointed(rounds, fused.weights) if places is None else span_loss(rounds, places)


def span_loss(rounds: Rounds, places: Tensor) -> Loss:
    """−Σ_i [log p_i(s) + log p_i(e)] over the rounds i until a row stops; nll is of the last round alone.

    A row whose answer is NOWHERE costs nothing.
    """
    answered = places[:, 0] != NOWHERE  # (B,)
    s, e = (places.clamp(min=0)[:, None, end : end + 1].expand(-1, rounds.live.size(1), -1) for end in (0, 1))
    log_prob = (rounds.start.gather(-1, s) + rounds.end.gather(-1, e))[:, :, 0]  # (B, R)
    counts = rounds.live & answered[:, None]  # (B, R)
    last = log_prob.gather(1, rounds.live.sum(1, keepdim=True) - 1)[:, 0]  # (B,)
    return Loss(-(log_prob * counts).sum(), -(last * answered).sum().detach(), answered.sum())


class ClozeReader(nn.Module):
    """P(w | passage, question) = Σ_{i: w stands at i} s_i, by attention over attention            Cui et al. 2016

    Dropout leaves numbers out of the question's states only, the same of all its words: they are compared with the
    passage's in the other numbers, where equal words stay equal.
    """

    attends = True

    def __init__(self, encoder: TextEncoder, dropout: float = 0.0):
        super().__init__()
        self.encoder = encoder
        self.dropout = Dropout(dropout, variational=True)

    @overload
    def forward(self, passage: Padded, question: Padded) -> Over: ...

    @overload
    def forward(self, passage: Padded, question: Padded, places: Tensor) -> Loss: ...

    def forward(self, passage: Padded, question: Padded, places: Tensor | None = None) -> Over | Loss:
        """With `places` (B, K), where the wanted word stands, only the loss is told."""
        h, q = self.encoder(passage), self.encoder(question)
        over = attend_over(h, q._replace(values=self.dropout(q.values)))
        return over if places is None else word_loss(over.places, places)


def word_loss(weights: Tensor, places: Tensor) -> Loss:
    """−Σ log P(w), P(w) = Σ_k s at its K places (B, K); a row whose word is NOWHERE costs nothing."""
    weights = weights.to(torch.promote_types(weights.dtype, torch.float32))  # (B, M)
    real = places != NOWHERE  # (B, K)
    mass = (weights.gather(1, places.clamp(min=0)) * real).sum(1)  # (B,)
    answered = real.any(1)  # (B,)
    nll = -(mass.clamp(min=torch.finfo(mass.dtype).tiny).log() * answered).sum()
    return Loss(nll, nll.detach(), answered.sum())
