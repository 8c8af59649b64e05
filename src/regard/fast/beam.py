"""Beam search of a whole batch within one call of beam.c, attention included.

Between two steps of a beam torch would be called dozens of times, for a few hundred numbers each. All of it is said in
search.beam as well, which remains the reference.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regard.fast.decoding import Quick
from regard.fast.energy import REACH
from regard.fast.kernels import address, loaded
from regard.fast.packed import team

HYPOTHESIS, ENTRY, CANDIDATE = 6, 4, 3  # how many times 32 bits beam.c's structures have


class Sought(NamedTuple):
    """What is looked for."""

    begin: int
    end: int
    forbidden: Sequence[int]
    longest: Sequence[int]  # symbols of an answer to each source, without END
    width: int
    nbest: int
    divisors: Tensor  # (longest of all + 2,)  what log p is divided by, for so many symbols


class Found(NamedTuple):
    """K answers to each source, the best first; those that were cut off stand behind those that ended."""

    symbols: Tensor  # (B, K, T)
    scores: Tensor  # (B, K)
    log_probs: Tensor  # (B, K)
    weights: Tensor  # (B, K, T, S)
    lengths: Tensor  # (B, K)  how many of the T places are filled; −1: there is no such answer
    ended: Tensor  # (B, K)


def beam_all(quick: Quick, state: Tensor, carry: Tensor, sought: Sought) -> Found | None:
    """From s_0 and c_0 (B, H). None where only torch is right."""
    fixed = quick.weights
    if fixed.table is None or fixed.readout is None:
        return None
    (sources, places, size), hidden = quick.power.shape, state.size(-1)
    readout, count, width, nbest = len(fixed.readout.bias), len(fixed.table), sought.width, sought.nbest
    rows, most, threads = sources * width, max(sought.longest) + 1, team(sources * width)
    barred = state.new_zeros(count, dtype=torch.bool)
    barred[list(sought.forbidden)] = True
    each = size + 9 * hidden + 2 * readout + count + places
    room = state.new_empty(rows * each + threads * (size + 5 * hidden))
    counts = (
        2 * rows * HYPOTHESIS,
        threads * (2 * width + 1) * CANDIDATE,
        2 * sources * nbest * ENTRY,
        2 * rows * most,
    )
    drafts = [state.new_empty(number, dtype=torch.int32) for number in counts]
    looked = state.new_empty(rows * most * places)
    found = Found(
        state.new_empty(sources, nbest, most, dtype=torch.long),
        state.new_empty(sources, nbest),
        state.new_empty(sources, nbest),
        state.new_empty(sources, nbest, most, places),
        state.new_full((sources, nbest), -1, dtype=torch.long),
        state.new_zeros(sources, nbest, dtype=torch.bool),
    )
    numbers = (threads, sources, width, nbest, most, places, size, hidden, readout, count)
    marks = (sought.begin, sought.end, int(REACH))
    seen = (
        state.new_tensor(sought.longest, dtype=torch.long),
        sought.divisors,
        fixed.packed,
        quick.power,
        fixed.v,
        quick.shown,
        quick.driven,
    )
    _, *reading = fixed.readout.packed  # the context's half is in what is shown
    given = (quick.mask, fixed.table, *reading, barred, state.contiguous(), carry.contiguous())
    written = (found.scores, found.log_probs, found.lengths, found.ended, found.symbols, found.weights)
    everything = (*seen, *given, room, *drafts, looked, *written)
    if loaded().beam_run(*numbers, *marks, *map(address, everything)) < 0:
        return None
    filled = slice(max(int(found.lengths.max()), 0))  # answers are far shorter than the longest that they may be
    return found._replace(symbols=found.symbols[..., filled], weights=found.weights[:, :, filled])
