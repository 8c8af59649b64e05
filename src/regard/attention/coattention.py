"""Passage and question that read each other at once (Xiong, Zhong and Socher 2016, 2.2)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from regard.attention.both import both_ways
from regard.attention.memory import Encoded


class Coattended(NamedTuple):
    """What the passage makes of the question. M places of the passage, N of the question, and a sentinel each."""

    context: Tensor  # (B, M, 2V)  c^D_t
    over_passage: Tensor  # (B, N + 1, M + 1)  A^Q: each place of the question reads the passage
    over_question: Tensor  # (B, M + 1, N + 1)  A^D: each place of the passage reads the question


class Coattention(nn.Module):
    """L = Dᵀ Q,   A^Q = softmax of L over the passage,   A^D = softmax of Lᵀ over the question,
    C^Q = D A^Q,   C^D = [Q; C^Q] A^D,   where D = [d_1 … d_m; d_∅],   Q = tanh(W [q_1 … q_n; q_∅] + b)

    Who reads a sentinel ∅ reads nothing of the other text. It stands at its sequence's true end, before any padding.
    """

    def __init__(self, size: int):
        super().__init__()
        self.W = nn.Linear(size, size)
        self.no_passage = nn.Parameter(torch.zeros(size))  # d_∅
        self.no_question = nn.Parameter(torch.zeros(size))  # q_∅

    def forward(self, passage: Encoded, question: Encoded) -> Coattended:
        D, passage_mask = with_sentinel(passage, self.no_passage)  # (B, M + 1, V)
        words, question_mask = with_sentinel(question, self.no_question)  # (B, N + 1, V)
        Q = torch.tanh(self.W(words))  # (B, N + 1, V)
        L = D @ Q.transpose(1, 2)  # (B, M + 1, N + 1)
        A_Q, A_D = both_ways(L, passage_mask, question_mask)  # (B, N + 1, M + 1), (B, M + 1, N + 1)
        C_Q = A_Q @ D  # (B, N + 1, V)
        C_D = A_D @ torch.cat([Q, C_Q], -1)  # (B, M + 1, 2V)
        return Coattended(C_D[:, :-1] * passage.mask[:, :, None], A_Q, A_D)


class Ended(NamedTuple):
    values: Tensor  # (B, S + 1, V)
    mask: Tensor  # (B, S + 1)


def with_sentinel(encoded: Encoded, sentinel: Tensor) -> Ended:
    """h_1 … h_S and the sentinel (V,) after each sequence's last real place."""
    lengths = encoded.mask.sum(1, keepdim=True)  # (B, 1)
    places = torch.arange(encoded.mask.size(1) + 1, device=lengths.device)  # (S + 1,)
    values = pad(encoded.values, (0, 0, 0, 1))  # (B, S + 1, V)
    at_end = (places == lengths)[:, :, None]  # (B, S + 1, 1)
    return Ended(torch.where(at_end, sentinel.to(values.dtype), values), places <= lengths)
