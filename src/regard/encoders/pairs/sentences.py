"""Each text becomes a matrix of its own, without a look at the other; only then are the two compared."""

import torch
from torch import Tensor, nn

from regard.attention.pool import StructuredPool, pooled
from regard.data.batching import Padded
from regard.encoders.pairs import Paired


class GatedSentences(nn.Module):
    """M^p = A^p H^p,  M^h = A^h H^h (r rows each),   f_i = (W^p_i m^p_i) ⊙ (W^h_i m^h_i),   vector = [f_1; …; f_r]

    Lin et al. 2017, appendix B, the gated encoder for pairs: row i of the premise gates row i of the hypothesis. One
    encoder and one structured self-attention read both texts.
    """

    def __init__(self, encoder: nn.Module, pool: StructuredPool, value_size: int, factors: int):
        super().__init__()
        self.size = pool.rows * factors
        self.rows = pool.rows
        self.encoder = encoder
        self.pool = pool
        self.premise = nn.ModuleList(nn.Linear(value_size, factors, bias=False) for _ in range(self.rows))  # W^p_i
        self.hypothesis = nn.ModuleList(nn.Linear(value_size, factors, bias=False) for _ in range(self.rows))  # W^h_i

    def forward(self, premise: Padded, hypothesis: Padded) -> Paired:
        one, other = pooled(self.pool, self.encoder(premise)), pooled(self.pool, self.encoder(hypothesis))
        gates = self._factors(self.premise, one.vector) * self._factors(self.hypothesis, other.vector)  # (B, r, F)
        return Paired(gates.flatten(1), one.weights, other.weights)

    def _factors(self, each: nn.ModuleList, embedding: Tensor) -> Tensor:
        """W_i m_i of every row"""
        matrix = embedding.view(len(embedding), self.rows, -1)  # (B, r, V)  M
        return torch.stack([W(row) for W, row in zip(each, matrix.unbind(1), strict=True)], 1)  # (B, r, F)
