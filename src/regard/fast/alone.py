"""One source on its own, answered greedily within one call of kernels.c.

A step of one row is so little work that calling torch for its parts costs as much as the parts; where speed matters for
a single word (someone is waiting), the whole search is one call. Everything in it is said in search.greedy as well.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.fast.decoding import Quick
from regard.fast.energy import REACH
from regard.fast.kernels import address, loaded


class Walked(NamedTuple):
    """The likeliest symbols one by one, END among them if it came."""

    symbols: list[int]
    log_probs: list[float]
    weights: Tensor  # (T, S)


def walk_alone(
    first: Quick,
    state: Tensor,
    carry: Tensor,
    readout: nn.Linear,
    output: nn.Linear,
    begin: int,
    end: int,
    forbidden: tuple[int, ...],
    most: int,
) -> Walked | None:
    """From s_0 and c_0 (1, H), at most `most` steps; W_c and O as in decoders.output.AttentionalOutput"""
    fixed = first.weights
    if fixed.table is None:
        return None
    (_, places, size), width, hidden = first.power.shape, first.values.size(-1), state.size(-1)
    read, count = readout.out_features, output.out_features
    barred = torch.zeros(count, dtype=torch.bool)
    barred[list(forbidden)] = True
    room = state.new_empty(size + 4 * hidden + max(size, hidden) + 4 * hidden + width + 3 * hidden + read + count)
    symbols, weights = torch.empty(most, dtype=torch.long), state.new_empty(most, places)
    likely, mass = state.new_empty(most), state.new_empty(most)
    numbers = (most, places, size, width, hidden, read, count, begin, end, int(REACH))
    seen = (fixed.joined, first.power, fixed.v, first.values, first.driven, first.mask, fixed.table)
    shown = (readout.weight, readout.bias, output.weight, output.bias, barred, state.contiguous(), carry.contiguous())
    written = (room, symbols, weights, likely, mass)
    steps = loaded().greedy_alone(*numbers, *map(address, (*seen, *shown, *written)))
    if steps < 0:
        return None
    parts = zip(likely[:steps].tolist(), mass[:steps].tolist(), strict=True)
    log_probs = [above - math.log(total) for above, total in parts]
    return Walked(symbols[:steps].tolist(), log_probs, weights[:steps])
