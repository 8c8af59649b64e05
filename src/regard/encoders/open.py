"""Sources with symbols that no vocabulary has: each keeps a number of its own, so that it can be copied."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.data.vocabulary import UNKNOWN

LACKS = -1  # in the table: the target vocabulary has no such symbol


class OpenEncoder(nn.Module):
    """Any encoder of symbols, and beside its values the target symbol that each place holds.

    Of the source vocabulary (size V), a table says which target symbol each is. A number V + n stands for a symbol that
    it lacks, with the target number n; the encoder reads it as UNKNOWN. What the target vocabulary (size N) lacks has
    the target number N + k, where it is the k-th such symbol of its source, as Codec.target_numbers counts.
    """

    table: Tensor  # (V,)

    def __init__(self, encoder: nn.Module, table: Sequence[int], symbols: int):
        super().__init__()
        self.encoder = encoder
        self.size: int = encoder.size  # type: ignore[assignment]  # torch says that it may be a module
        self.symbols = symbols  # N
        # It follows from the vocabularies and is no weight: not saved, and there also where weights have no storage.
        self.register_buffer("table", torch.tensor(table, dtype=torch.long, device="cpu"), persistent=False)

    def forward(self, source: Padded) -> Encoded:
        known, mask = source.data < len(self.table), source.mask  # (B, S) each
        read = torch.where(known, source.data, UNKNOWN)  # (B, S)
        held = torch.where(known, self.table[read], source.data - len(self.table))  # (B, S)
        foreign = ((held == LACKS) | (held >= self.symbols)) & mask  # (B, S)
        held = torch.where(foreign, self.symbols + ranks(source.data, foreign), held) * mask  # (B, S)  PAD on padding
        encoded: Encoded = self.encoder(Padded(read, source.lengths))
        return encoded._replace(symbols=held)


def ranks(numbers: Tensor, counted: Tensor) -> Tensor:
    """(B, S) -> for each counted place, how many other numbers came before the first of its own: equal ones share it"""
    same = (numbers[:, :, None] == numbers[:, None]) & counted[:, None]  # (B, S, S)
    first = same.int().argmax(-1)  # (B, S)  the first counted place with this number
    new = counted & (first == torch.arange(numbers.size(1), device=numbers.device))  # (B, S)
    return (new.cumsum(-1) - 1).gather(1, first)
