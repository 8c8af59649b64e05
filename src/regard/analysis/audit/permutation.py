"""The permutation test: if other weights would have done as well, these explain nothing."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.analysis.audit.altered import reorder
from regard.analysis.audit.measures import jensen_shannon, total_variation
from regard.analysis.audit.walking import Array, Moment, Walk, again, array
from regard.data.batching import mix
from regard.model import EncoderDecoder
from regard.search.tree import pick


class Shuffled(NamedTuple):
    """How far p(y_t) went in each of D draws."""

    variation: Array  # (…, T, D)  TV(p, p')
    divergence: Array  # (…, T, D)  JS(p, p') in bits
    flipped: Array  # (…, T, D)  1 where the likeliest symbol is another one


@torch.no_grad()
def shuffle_weights(model: EncoderDecoder, walked: Walk, orders: Tensor) -> Shuffled:
    """At step t the weights go to other places, as orders (B, T, D, S) say; the steps before stay as they were."""
    count, _, draws, _ = orders.shape
    rows = torch.arange(count, device=orders.device).repeat_interleave(draws)  # (B · D,)
    memory = pick(walked.memory, rows)
    found = []
    for moment, order in zip(walked.moments, orders.unbind(1), strict=True):
        after = again(model, moment, memory, rows, reorder(order.flatten(0, 1)))
        found.append(_moved(moment, after.reshape(count, draws, -1)))
    return Shuffled(*(np.stack(parts, 1) for parts in zip(*found, strict=True)))


def _moved(moment: Moment, after: Array) -> Shuffled:
    """One step, against p' (B, D, N) of it: (B, D)"""
    before = np.exp(array(moment.log_probs))[:, None]  # (B, 1, N)
    flipped = (before.argmax(-1) != after.argmax(-1)).astype(np.float64)
    return Shuffled(total_variation(before, after), jensen_shannon(before, after), flipped)


def draw_orders(seed: int, numbers: Sequence[int], lengths: Sequence[int], steps: int, draws: int) -> Tensor:
    """(B, T, D, S): an order of the real places for every step and draw; it follows from the seed and the example's
    number and does not depend on its batch."""
    orders = torch.arange(max(lengths)).repeat(len(numbers), steps, draws, 1)
    for row, (number, length) in enumerate(zip(numbers, lengths, strict=True)):
        for step in range(steps):
            generator = torch.Generator().manual_seed(mix(seed, number, step))
            orders[row, step, :, :length] = torch.rand(draws, length, generator=generator).argsort(-1)
    return orders
