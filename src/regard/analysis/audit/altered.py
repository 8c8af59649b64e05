"""The door to the weights: what an attention reads can be changed between its softmax and its values.

torch's forward hooks open it, on every part that makes weights, so attentions and decoders need not know of it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.hard import HardAttention
from regard.attention.hierarchical import HierarchicalAttention
from regard.attention.memory import Attended
from regard.attention.monotonic import MonotonicTransition
from regard.attention.soft import Attention
from regard.attention.tape import Recalled, TapeAttention, recall
from regard.fast.switch import plain

Change = Callable[[Tensor, Tensor], Tensor]  # g: weights (R, T, S), mask (R, S) -> what is read instead, (R, T, S)


@contextmanager
def altered(model: nn.Module, change: Change) -> Iterator[None]:
    """Within this block the model reads  c_t = Σ_j g(α_t)_j h_j,  each head by itself; under monotonic attention
    p(y_t) = Σ_j g(α_t)_j p(y_t | a_t = j).  Only the plain path runs: the fast one makes weights and context at once.
    """
    handles = [
        part.register_forward_hook(partial(door, change))
        for part in model.modules()
        for kind, door in DOORS.items()
        if isinstance(part, kind)
    ]
    try:
        with plain():
            yield
    finally:
        for handle in handles:
            handle.remove()


def _soft(change: Change, attention: nn.Module, given: Any, attended: Attended) -> Attended:
    memory = given[1]  # of (query, memory, trace)
    weights = change(attended.weights, memory.mask)  # (R, T, S)
    return Attended(weights @ memory.values, weights)


def _drawn(change: Change, attention: nn.Module, given: Any, attended: Attended) -> Attended:
    """Hard attention reads the likeliest of the changed weights, which the attention within it has made; where all are
    alike none is the likeliest, and the mean is read."""
    if change is not uniform:
        return attended
    return attended._replace(context=attended.weights @ given[1].values)


def _two_levels(change: Change, attention: nn.Module, given: Any, attended: Attended) -> Attended:
    """Σ_u β_tu Σ_w α_tuw h_uw is one sum over all words, with the weights β_tu α_tuw."""
    return _soft(change, attention, (given[0], given[1].words), attended)


def _monotonic(change: Change, transition: nn.Module, given: Any, prior: Tensor) -> Tensor:
    memory = given[1]  # of (query, memory, posterior)
    return change(prior[:, None], memory.mask)[:, 0]  # (R, S)


def _tape(change: Change, attention: nn.Module, given: Any, recalled: Recalled) -> Recalled:
    """Deep fusion; what a cell recalls of itself, from a tape without padding, stays as it is."""
    tape = given[2]  # of (asked, last, tape)
    if tape.mask is None:
        return recalled
    return recall(change(recalled.weights[:, None], tape.mask)[:, 0], tape)


DOORS: dict[type[nn.Module], Callable[..., Any]] = {
    Attention: _soft,
    HardAttention: _drawn,
    HierarchicalAttention: _two_levels,
    MonotonicTransition: _monotonic,
    TapeAttention: _tape,
}


def erase(places: Tensor) -> Change:
    """α'_j = 0 on the places (R, S) that are True, the rest scaled to the old sum. If all weight stood there, nothing
    is read. Where none did, nothing changes, to the last bit."""

    def change(weights: Tensor, mask: Tensor) -> Tensor:
        kept = weights * ~places[:, None]  # (R, T, S)
        whole, left = weights.sum(-1, keepdim=True), kept.sum(-1, keepdim=True)  # (R, T, 1)
        return kept * (whole / left.clamp(min=torch.finfo(left.dtype).tiny))

    return change


def reorder(order: Tensor) -> Change:
    """α'_j = α_{order(j)} for an order (R, S) of the places"""

    def change(weights: Tensor, mask: Tensor) -> Tensor:
        return weights.gather(-1, order[:, None].expand_as(weights))

    return change


def uniform(weights: Tensor, mask: Tensor) -> Tensor:
    """α'_j = 1/S on the real places: every step reads the mean of the values"""
    real = mask[:, None].to(weights.dtype)  # (R, 1, S)
    return (real / real.sum(-1, keepdim=True).clamp(min=1)).expand_as(weights)
