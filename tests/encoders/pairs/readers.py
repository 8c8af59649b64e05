"""The three readers of pairs, small and in fp64, and three pairs of texts to read."""

import torch
from torch import Tensor, nn

from regard.attention.pool import MaxPool, MeanPool, Pool, StructuredPool
from regard.attention.score import AdditiveScore, BilinearScore
from regard.attention.soft import Attention
from regard.data.batching import Padded
from regard.dropout import Dropout
from regard.encoders.pairs.alignment import SoftAlignment
from regard.encoders.pairs.sentences import GatedSentences
from regard.encoders.pairs.words import WordByWord
from regard.encoders.recurrent import RecurrentEncoder

E, HALF, V, A, C, ROWS = 2, 3, 6, 5, 7, 2
PREMISES, HYPOTHESES = torch.tensor([5, 2, 3]), torch.tensor([1, 4, 3])  # lengths

READERS = ("sentences", "words", "alignment")


def make(name: str) -> SoftAlignment | WordByWord | GatedSentences:
    torch.manual_seed(0)
    encoder = RecurrentEncoder(E, HALF, "gru")
    made: SoftAlignment | WordByWord | GatedSentences
    if name == "sentences":
        made = GatedSentences(encoder, StructuredPool(V, A, ROWS), V, C)
    elif name == "words":
        made = WordByWord(encoder, Attention(AdditiveScore(2 * V, V, A), V), V)
    else:
        pools: list[Pool] = [MeanPool(C, A, 1), MaxPool(C, A, 1)]
        made = SoftAlignment(encoder, BilinearScore(V, V, A), pools, V, C, Dropout(0.0))
    for weight in made.parameters():
        nn.init.normal_(weight)
    return made.double()


def texts(lengths: Tensor, seed: int, more: int = 0, filler: float = 0.0) -> Padded:
    """Vectors (B, S, E) with `more` places of padding than they need."""
    longest = int(lengths.max())
    data = torch.randn(len(lengths), longest, E, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    wide = torch.full((len(lengths), longest + more, E), filler, dtype=torch.float64)
    real = torch.arange(longest) < lengths[:, None]  # (B, S)
    wide[:, :longest][real] = data[real]
    return Padded(wide, lengths)


def premises(more: int = 0, filler: float = 0.0) -> Padded:
    return texts(PREMISES, 1, more, filler)


def hypotheses(more: int = 0, filler: float = 0.0) -> Padded:
    return texts(HYPOTHESES, 2, more, filler)
