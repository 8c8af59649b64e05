"""Greedy search of a whole batch within one call of kernels.c, attention included.

For one source, calling torch for the parts of a step costs more than the parts; for a batch, a quarter. All of it is
said in search.walk and search.greedy as well, which remain the reference.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regard.fast.decoding import Quick
from regard.fast.energy import REACH
from regard.fast.kernels import address, loaded
from regard.fast.packed import team


class Walked(NamedTuple):
    """What each source's hypothesis wrote, END among it if it came."""

    symbols: Tensor  # (B, T)
    log_probs: Tensor  # (B, T)
    weights: Tensor  # (B, T, S)
    steps: list[int]  # how many of the T places are filled; T is the largest


def walk_all(
    quick: Quick, state: Tensor, carry: Tensor, begin: int, end: int, forbidden: Sequence[int], longest: Sequence[int]
) -> Walked | None:
    """From s_0 and c_0 (B, H), each until END or one symbol more than its longest. None where only torch is right."""
    fixed = quick.weights
    if fixed.table is None or fixed.readout is None:
        return None
    (rows, places, size), width, hidden = quick.power.shape, quick.values.size(-1), state.size(-1)
    readout, count = len(fixed.readout.bias), len(fixed.table)
    most = max(longest) + 1
    barred = state.new_zeros(count, dtype=torch.bool)
    barred[list(forbidden)] = True
    each = size + 7 * hidden + width + places + readout + count
    room = state.new_empty(rows * each + team(rows) * (size + hidden))
    whole, steps = state.new_empty(2 * rows, dtype=torch.long), state.new_zeros(rows, dtype=torch.long)
    symbols, weights = steps.new_zeros(rows, most), state.new_zeros(rows, most, places)
    likely, mass = state.new_zeros(rows, most), state.new_ones(rows, most)
    numbers = (team(rows), rows, most, places, size, width, hidden, readout, count, begin, end, int(REACH))
    arranged = (fixed.packed_query, fixed.packed_recurrence, fixed.packed_context_drive)
    seen = (
        state.new_tensor(longest, dtype=torch.long),
        *arranged,
        quick.power,
        fixed.v,
        quick.values,
        quick.mask,
        fixed.table,
    )
    given = (*fixed.readout.packed, barred, state.contiguous(), carry.contiguous())
    written = (room, whole, symbols, weights, likely, mass, steps)
    if loaded().greedy_run(*numbers, *map(address, (*seen, *given, *written))) < 0:
        return None
    filled = slice(int(steps.max()))  # answers are far shorter than the longest that they may be
    log_probs = likely[:, filled] - mass[:, filled].log()
    return Walked(symbols[:, filled], log_probs, weights[:, filled], steps.tolist())
