"""Passage and question → the passage's places, each with what it knows of the question; for pointers into it."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.coattention import Coattention
from regard.data.batching import Padded
from regard.encoders.lstmn import LSTMNEncoder
from regard.encoders.recurrent import RecurrentEncoder, TextEncoder


class Fused(NamedTuple):
    """What a pointer reads."""

    values: Tensor  # (B, M, U)  u_1 … u_M
    mask: Tensor  # (B, M)
    weights: Tensor | None  # (B, N + 1, M + 1)  where each word of the question looks; None: there is no attention


class CoattentionReader(nn.Module):
    """One encoder reads both, they read each other, and U = BiLSTM([D; C^D])            Xiong et al. 2016, 2.1–2.2"""

    attends = True

    def __init__(self, encoder: TextEncoder, coattention: Coattention, fusion: RecurrentEncoder | LSTMNEncoder):
        super().__init__()
        self.encoder = encoder
        self.coattention = coattention
        self.fusion = fusion  # reads values of three times the encoder's size
        self.size = fusion.size

    def forward(self, passage: Padded, question: Padded) -> Fused:
        D, Q = self.encoder(passage), self.encoder(question)
        attended = self.coattention(D, Q)
        joined = torch.cat([D.values, attended.context], -1)  # (B, M, 3V)
        U = self.fusion(Padded(joined, passage.lengths))
        return Fused(U.values, U.mask, attended.over_passage)


class PlainReader(nn.Module):
    """U = BiLSTM([d_t; q_n]): each place of the passage beside the question's last state; no attention.

    Without the layer on top, what a linear pointer makes of q_n would be the same at all places, and so say nothing.
    """

    attends = False

    def __init__(self, encoder: TextEncoder, fusion: RecurrentEncoder | LSTMNEncoder):
        super().__init__()
        self.encoder = encoder
        self.fusion = fusion  # reads values of twice the encoder's size
        self.size = fusion.size

    def forward(self, passage: Padded, question: Padded) -> Fused:
        D, Q = self.encoder(passage), self.encoder(question)
        last = Q.summary[:, None].expand(-1, D.values.size(1), -1)  # (B, M, V)
        U = self.fusion(Padded(torch.cat([D.values, last], -1), passage.lengths))
        return Fused(U.values, U.mask, None)
