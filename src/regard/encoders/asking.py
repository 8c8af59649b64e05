"""A picture and a question about it, both encoded → one vector to choose an answer by, and where it looked for it."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.attention.score import AdditiveScore
from regard.attention.soft import Attention


class Asked(NamedTuple):
    vector: Tensor  # (B, D)
    weights: Tensor  # (B, K, S)  of the picture's places, a row for each look; K = 0: it looked nowhere in particular


class Beside(nn.Module):
    """vector = [q; v]: the question's summary and the picture's, side by side            Ren, Kiros and Zemel 2015

    It is what P(answer) = softmax(V [q; v] + b) reads.
    """

    hops = 0

    def __init__(self, picture_size: int, question_size: int):
        super().__init__()
        self.size = question_size + picture_size

    def forward(self, picture: Encoded, question: Encoded) -> Asked:
        vector = torch.cat([question.summary, picture.summary], -1)  # (B, D)
        return Asked(vector, picture.values.new_zeros(len(vector), 0, picture.mask.size(1)))


class StackedAttention(nn.Module):
    """v_i = tanh(W a_i + b),   u_0 = q,
    p_k = softmax_i w_k · tanh(W_k u_{k-1} + U_k v_i),   u_k = u_{k-1} + Σ_i p_ki v_i            Yang et al. 2016, 3.3

    Each hop looks at the picture with the question and what the hops before have found. a_i are
    the picture's places, q the question's summary; vector = u_K.
    """

    def __init__(self, picture_size: int, question_size: int, compare: int, hops: int = 2):
        super().__init__()
        self.size, self.hops = question_size, hops
        self.W = nn.Linear(picture_size, question_size)
        scores = (AdditiveScore(question_size, question_size, compare) for _ in range(hops))
        self.looks = nn.ModuleList(Attention(score, question_size) for score in scores)

    def forward(self, picture: Encoded, question: Encoded) -> Asked:
        seen = picture._replace(values=self.W(picture.values).tanh())  # (B, S, Q)
        u, weights = question.summary[:, None], []  # (B, 1, Q)
        for look in self.looks:
            assert isinstance(look, Attention)
            attended = look(u, look.remember(seen))
            u = u + attended.context
            weights.append(attended.weights)  # (B, 1, S)
        return Asked(u[:, 0], torch.cat(weights, 1))
