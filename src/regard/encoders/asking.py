"""A picture and a question about it, both encoded → one vector to choose an answer by, and where it looked for it."""

from functools import partial
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention.memory import Encoded
from regard.attention.score import AdditiveScore
from regard.attention.soft import Attention
from regard.attention.softmax import masked_softmax
from regard.dropout import Dropout

RARE = -3.0  # log-odds that a word is said of a picture, before anything is learnt: about one picture in twenty


class Asked(NamedTuple):
    vector: Tensor  # (B, D)
    weights: Tensor  # (B, K, S)  of the picture's places, a row for each look; K = 0: it looked nowhere in particular
    named: Tensor | None = None  # (B, N)  log-odds that a word is said of the picture, where places have names


def level(picture: Encoded) -> Encoded:
    """a_i = √V x_i / ‖x_i‖: every place of a picture speaks as loudly, in its mean, too."""
    values = F.rms_norm(picture.values, picture.values.shape[-1:])  # (B, S, V)
    values = values.masked_fill(~picture.mask[:, :, None], 0)
    return picture._replace(values=values, summary=values.sum(1) / picture.mask.sum(1, keepdim=True).clamp(min=1))


class Concatenated(nn.Module):
    """vector = [q; a]

    The question's summary and the picture's, the mean of its level places, with nothing between them and the answer:
    P(answer) = softmax(V [q; a] + b), as the notes have it.
    """

    hops = 0

    def __init__(self, picture_size: int, question_size: int, dropout: Dropout | None = None):
        super().__init__()
        self.size = question_size + picture_size
        self.dropout = dropout or Dropout(0.0)

    def forward(self, picture: Encoded, question: Encoded) -> Asked:
        vector = torch.cat([question.summary, self.dropout(level(picture).summary)], -1)  # (B, Q + V)
        return Asked(vector, picture.values.new_zeros(len(vector), 0, picture.mask.size(1)))


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
    """u_0 = q,   p_k = softmax_i γ w_k · tanh(W_k u_{k-1} + U_k a_i),   f_k = tanh(W Σ_i p_ki a_i + b),
    u_k = u_{k-1} + f_k,   vector = [q; f_K]            after Yang et al. 2016, 3.3, where γ is 1

    Each hop looks at the picture's level places a_i with the question q and what the hops before have found. With
    weights all alike it is `Beside`: the two differ only in where they look. Yang et al. squash every place before they
    sum, and read u_K alone: few questions teach that less (docs/answer.md). `sharpness` γ only says how fast weights
    leave what is even: rules as Adam's move w_k as far at every update whatever γ is.

    With `names` N each place is also compared with N words, n_i = O a_i + b, and a hop leans to places that look like
    the words it is after:  energy_ki + γ (M_k u_{k-1}) · σ(n_i).  O can be taught by what is said of the whole picture,
    whose log-odds are those of its places, mostly of the highest:  log (1/S Σ_i e^{n_i}).
    """

    def __init__(
        self,
        picture_size: int,
        question_size: int,
        compare: int,
        hops: int = 2,
        dropout: Dropout | None = None,
        names: int = 0,
        sharpness: float = 1.0,
    ):
        super().__init__()
        self.size, self.hops = 2 * question_size, hops
        self.W = nn.Linear(picture_size, question_size)
        scores = (AdditiveScore(question_size, picture_size, compare) for _ in range(hops))
        weigh = masked_softmax if sharpness == 1 else partial(sharpened, sharpness)  # the former is read in one pass
        self.looks = nn.ModuleList(Attention(score, picture_size, weigh) for score in scores)
        self.O = nn.Linear(picture_size, names) if names else None
        self.M = nn.ModuleList(nn.Linear(question_size, names, bias=False) for _ in range(hops if names else 0))
        self.dropout = dropout or Dropout(0.0)

    def begin(self) -> None:
        """All places are alike at first, as they are to `Beside`: where it looks is learnt, not chance."""
        for look in self.looks:
            assert isinstance(look, Attention)
            assert isinstance(look.score, AdditiveScore)
            nn.init.zeros_(look.score.v.weight)
        for lean in self.M:
            nn.init.zeros_(cast(nn.Linear, lean).weight)
        if self.O is not None:
            nn.init.constant_(self.O.bias, RARE)

    def forward(self, picture: Encoded, question: Encoded) -> Asked:
        picture = level(picture)
        picture = picture._replace(values=self.dropout(picture.values))  # (B, S, V)
        names = None if self.O is None else self.O(picture.values)  # (B, S, N)
        u, weights = question.summary[:, None], []  # (B, 1, Q)
        for number, look in enumerate(self.looks):
            assert isinstance(look, Attention)
            lean = None if names is None else self.M[number](u) @ names.sigmoid().transpose(1, 2)  # (B, 1, S)
            attended = look(u, look.remember(picture), lean=lean)
            found = self.W(attended.context).tanh()  # (B, 1, Q)
            u = u + found
            weights.append(attended.weights)  # (B, 1, S)
        named = None if names is None else log_mean(names, picture.mask)  # (B, N)
        return Asked(torch.cat([question.summary, found[:, 0]], -1), torch.cat(weights, 1), named)


def sharpened(sharpness: float, energy: Tensor, mask: Tensor) -> Tensor:
    """α = softmax_i γ e_i over the real places"""
    return masked_softmax(sharpness * energy, mask)


def log_mean(names: Tensor, mask: Tensor) -> Tensor:
    """log (1/S Σ_i e^{n_i}) over a picture's real places            (B, S, N), (B, S) -> (B, N)"""
    real = names.masked_fill(~mask[:, :, None], -torch.inf)
    return real.logsumexp(1) - mask.sum(1, keepdim=True).to(names.dtype).log()
