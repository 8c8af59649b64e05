"""Symbols → Encoded by nothing but their vectors: what a reader without recurrence reads."""

from torch import nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.dropout import Dropout
from regard.encoders.recurrent import Embed


class Bag(nn.Module):
    """h_j = F x_j,   summary = mean_j h_j            the bag of words of Rush et al. 2015, 3.2"""

    def __init__(self, embed: Embed, dropout: Dropout | None = None):
        super().__init__()
        self.embed = embed
        self.size = embed.table.embedding_dim
        self.dropout = dropout or Dropout(0.0)

    def forward(self, source: Padded) -> Encoded:
        real = source.mask[:, :, None]  # (B, S, 1)
        values = self.dropout(self.embed(source).data) * real  # (B, S, V)
        return Encoded(values, source.mask, values.sum(1) / real.sum(1).clamp(min=1))
