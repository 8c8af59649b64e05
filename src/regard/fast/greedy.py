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
from regard.fast.threads import at, share_out


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
    barred = torch.zeros(count, dtype=torch.bool)
    barred[list(forbidden)] = True
    each = size + 11 * hidden + width + places + readout + count
    steps = torch.zeros(rows, dtype=torch.long)
    symbols, weights = steps.new_zeros(rows, most), state.new_zeros(rows, most, places)
    likely, mass = state.new_zeros(rows, most), state.new_ones(rows, most)
    sizes = (most, places, size, width, hidden, readout, count, begin, end, int(REACH))
    arranged = tuple(map(address, (fixed.packed, fixed.packed_context_drive)))
    output = tuple(map(address, (*fixed.readout.packed, barred)))
    limits, state, carry = torch.tensor(longest), state.contiguous(), carry.contiguous()

    def walk(first: int, after: int) -> int:
        """A part of the rows."""
        few = after - first
        room, whole = state.new_empty(few * each + size + hidden), torch.empty(2 * few, dtype=torch.long)
        source = (at(quick.power, first), address(fixed.v), at(quick.values, first), at(quick.mask, first))
        given = (at(limits, first), *arranged, *source, address(fixed.table), *output)
        begun = (at(state, first), at(carry, first), address(room), address(whole))
        written = (at(one, first) for one in (symbols, weights, likely, mass, steps))
        done: int = loaded().greedy_run(few, *sizes, *given, *begun, *written)
        return done

    if min(share_out(rows, walk)) < 0:
        return None
    filled = slice(int(steps.max()))  # answers are far shorter than the longest that they may be
    log_probs = likely[:, filled] - mass[:, filled].log()
    return Walked(symbols[:, filled], log_probs, weights[:, filled], steps.tolist())
