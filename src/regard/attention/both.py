"""Two sequences that read each other: the two softmaxes over the two axes of one matrix of energies."""

from typing import NamedTuple

from torch import Tensor

from regard.attention.softmax import masked_softmax


class BothWays(NamedTuple):
    """Who reads stands in the rows, so that `weights @ values` are the contexts of the readers."""

    over_first: Tensor  # (B, H, P)  each place of the second reads the first: rows sum to 1 over P
    over_second: Tensor  # (B, P, H)  each place of the first reads the second: rows sum to 1 over H


def both_ways(energy: Tensor, first: Tensor, second: Tensor) -> BothWays:
    """α_ij = exp e_ij / Σ_i' exp e_i'j over the first,   β_ij = exp e_ij / Σ_j' exp e_ij' over the second

    Of energies (B, P, H) between P places of the first and H of the second, whose masks are (B, P) and (B, H).
    Padding neither reads nor is read: its rows and its columns are all zeros.
    """
    readable = first[:, :, None] & second[:, None]  # (B, P, H)
    over_first = masked_softmax(energy.transpose(1, 2), readable.transpose(1, 2))  # (B, H, P)  α
    over_second = masked_softmax(energy, readable)  # (B, P, H)  β
    return BothWays(over_first, over_second)
