"""A picture and a question about it, both encoded → one vector to choose an answer by, and where it looked for it."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention.memory import Encoded
from regard.attention.score import AdditiveScore
from regard.attention.soft import Attention
from regard.dropout import Dropout


class Asked(NamedTuple):
    vector: Tensor  # (B, D)
    weights: Tensor  # (B, K, S)  of the picture's places, a row for each look; K = 0: it looked nowhere in particular


def level(picture: Encoded) -> Encoded:
    """a_i = √V x_i / ‖x_i‖: every place of a picture speaks as loudly, in its mean, too."""
    values = F.rms_norm(picture.values, picture.values.shape[-1:])  # (B, S, V)
    values = values.masked_fill(~picture.mask[:, :, None], 0)
    return picture._replace(values=values, summary=values.sum(1) / picture.mask.sum(1, keepdim=True).clamp(min=1))


class Beside(nn.Module):
    """f = tanh(W a + b),   vector = [q; f]: the question's summary and the picture's, side by side
    Ren, Kiros and Zemel 2015

    It is what P(answer) = softmax(V [q; f] + b) reads; a is the mean of the picture's places, made level.
    """

    hops = 0

    def __init__(self, picture_size: int, question_size: int, dropout: Dropout | None = None):
        super().__init__()
        self.size = 2 * question_size
        self.W = nn.Linear(picture_size, question_size)
        self.dropout = dropout or Dropout(0.0)

    def forward(self, picture: Encoded, question: Encoded) -> Asked:
        found = self.W(self.dropout(level(picture).summary)).tanh()  # (B, Q)
        vector = torch.cat([question.summary, found], -1)  # (B, 2 Q)
        return Asked(vector, picture.values.new_zeros(len(vector), 0, picture.mask.size(1)))


class StackedAttention(nn.Module):
    """u_0 = q,   p_k = softmax_i w_k · tanh(W_k u_{k-1} + U_k a_i),   f_k = tanh(W Σ_i p_ki a_i + b),
    u_k = u_{k-1} + f_k,   vector = [q; f_K]            after Yang et al. 2016, 3.3

    Each hop looks at the picture's level places a_i with the question q and what the hops before have found. With
    weights all alike it is `Beside`: the two differ only in where they look. Yang et al. squash every place before they
    sum, and read u_K alone: few questions teach that less (docs/answer.md).
    """

    def __init__(
        self, picture_size: int, question_size: int, compare: int, hops: int = 2, dropout: Dropout | None = None
    ):
        super().__init__()
        self.size, self.hops = 2 * question_size, hops
        self.W = nn.Linear(picture_size, question_size)
        scores = (AdditiveScore(question_size, picture_size, compare) for _ in range(hops))
        self.looks = nn.ModuleList(Attention(score, picture_size) for score in scores)
        self.dropout = dropout or Dropout(0.0)

    def begin(self) -> None:
        """All places are alike at first, as they are to `Beside`: where it looks is learnt, not chance."""
        for look in self.looks:
            assert isinstance(look, Attention)
            assert isinstance(look.score, AdditiveScore)
            nn.init.zeros_(look.score.v.weight)

    def forward(self, picture: Encoded, question: Encoded) -> Asked:
        picture = level(picture)
        picture = picture._replace(values=self.dropout(picture.values))  # (B, S, V)
        u, weights = question.summary[:, None], []  # (B, 1, Q)
        for look in self.looks:
            assert isinstance(look, Attention)
            attended = look(u, look.remember(picture))
            found = self.W(attended.context).tanh()  # (B, 1, Q)
            u = u + found
            weights.append(attended.weights)  # (B, 1, S)
        return Asked(torch.cat([question.summary, found[:, 0]], -1), torch.cat(weights, 1))
