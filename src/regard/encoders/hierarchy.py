"""Texts of sentences, or conversations of turns, read on two levels: words, then sentences.

A source stays one flat sequence of symbols, in which a symbol of its own parts the sentences.
"""

from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.attention.pool import Pool, pooled
from regard.data.batching import Padded
from regard.data.vocabulary import PAD
from regard.encoders.lstmn import LSTMNEncoder
from regard.encoders.recurrent import RecurrentEncoder, TextEncoder


class Levels(NamedTuple):
    """What was read on both levels; whoever asks for no more than Encoded finds the words, where they stood."""

    values: Tensor  # (B, S, V)  of words; zero on separators and padding
    mask: Tensor  # (B, S)  True on words
    summary: Tensor  # (B, V')  of the sentences
    line: Tensor  # (B, S)  which sentence a place belongs to, from 0; a separator to the one before it
    sentences: Encoded  # values (B, U, V'), mask (B, U), summary (B, V')
    weights: Tensor  # (B, R, S)  of words, in R rows: each sentence's sum to 1; R = 0 if its pool shows none


class Cut(NamedTuple):
    """Where the sentences of flat sources (B, S) are; N of all sources together, in their order."""

    words: Tensor  # (B, S)  True on words
    line: Tensor  # (B, S)
    owner: Tensor  # (N,)  whose sentence it is
    begin: Tensor  # (N,)  its first place
    lengths: Tensor  # (N,)  its words, which follow each other


def cut(source: Padded, separator: int) -> Cut:
    """Separators at the ends or side by side part nothing; a source of nothing else is read as one word."""
    places = torch.arange(source.data.size(1), device=source.data.device)  # (S,)
    words = source.mask & (source.data != separator)  # (B, S)
    words = words | ((places == 0) & ~words.any(1, keepdim=True))
    before = torch.cat([torch.zeros_like(words[:, :1]), words[:, :-1]], 1)  # (B, S)
    begins = words & ~before
    owner, begin = begins.nonzero(as_tuple=True)  # (N,) each
    numbers = begins.flatten().cumsum(0) - 1  # (B·S,)  of the sentence that began last
    lengths = numbers[words.flatten()].bincount()  # (N,)
    return Cut(words, (begins.cumsum(1) - 1).clamp(min=0), owner, begin, lengths)


class HierarchicalEncoder(nn.Module):
    """h_ij = words(x_i)_j,   s_i = pool_j h_ij,   h_i = sentences(s)_i            Yang et al. 2016, 2.2

    The words' reader begins anew at every sentence. Only sentences that are there are read, those of about one length
    together.
    """

    def __init__(self, words: TextEncoder, pool: Pool, sentences: RecurrentEncoder | LSTMNEncoder, separator: int):
        super().__init__()
        self.words, self.sentences, self.separator = words, sentences, separator
        self.pool = cast(nn.Module, pool)
        self.word_size, self.size = words.size, sentences.size

    def forward(self, source: Padded) -> Levels:
        found = cut(source, self.separator)
        (rows, places), most = source.data.shape, int(found.line.max()) + 1  # B, S and U
        groups = _groups(found.lengths)
        starts = found.owner * places + found.begin  # (N,)
        parts = [self._read(source.data.flatten(), starts[group], found.lengths[group]) for group in groups]
        where, values, weights, vectors = (torch.cat(several) for several in zip(*parts, strict=True))
        values = _spread(values, where, rows * places).view(rows, places, -1)  # (B, S, V)
        weights = _spread(weights, where, rows * places).view(rows, places, -1)  # (B, S, R)
        slots = (found.owner * most + found.line[found.owner, found.begin])[torch.cat(groups)]  # (N,)
        vectors = _spread(vectors, slots, rows * most).view(rows, most, -1)  # (B, U, P)
        sentences: Encoded = self.sentences(Padded(vectors, found.owner.bincount()))
        return Levels(values, found.words, sentences.summary, found.line, sentences, weights.transpose(1, 2))

    def _read(self, symbols: Tensor, starts: Tensor, lengths: Tensor) -> "_Part":
        """Some sentences (n), which begin at these places of all symbols (B·S,)."""
        steps = torch.arange(int(lengths.max()), device=symbols.device)  # (W,)
        real = steps < lengths[:, None]  # (n, W)
        where = torch.where(real, starts[:, None] + steps, 0)  # (n, W)
        encoded: Encoded = self.words(Padded(torch.where(real, symbols[where], PAD), lengths))
        one = pooled(cast(Pool, self.pool), encoded)
        return _Part(where[real], encoded.values[real], one.weights.transpose(1, 2)[real], one.vector)


class _Part(NamedTuple):
    """Some sentences, read."""

    where: Tensor  # (M,)  their words' places among all symbols
    values: Tensor  # (M, V)
    weights: Tensor  # (M, R)
    vectors: Tensor  # (n, P)


def _groups(lengths: Tensor) -> list[Tensor]:
    """Numbers of the sentences of 1, 2, 3–4, 5–8, … words, so that none is padded to more than twice its length."""
    sizes = lengths.float().log2().ceil()  # (N,)
    return [(sizes == size).nonzero()[:, 0] for size in sorted(set(sizes.tolist()))]


def _spread(rows: Tensor, where: Tensor, count: int) -> Tensor:
    """Rows (M, …) at their places among `count`, zeros elsewhere."""
    return rows.new_zeros(count, rows.size(1)).index_copy(0, where, rows)
