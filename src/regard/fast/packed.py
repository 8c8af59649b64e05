"""Weights laid out for the products of kernels.c: a few rows times the same weights, step after step.

A library's product packs its weights anew at every call; a loop packs them once. Several threads share out the rows;
where there are too few rows for most of them, the loops stay with torch, whose products use all threads.
"""

from functools import cache

import torch
from torch import Tensor

from regard.fast.kernels import address, joins_threads, loaded
from regard.fast.scratch import Scratch

LEAST = 16  # rows of a thread: each fetches all weights by itself; chosen, not measured
SMALL = 512  # up to this size of the state search stays inside kernels.c on any number of threads; measured at 256


def loops_inside(rows: int) -> bool:
    """Whether whole loops over so many rows should run inside kernels.c."""
    return 2 * team(rows) > torch.get_num_threads()


def search_inside(size: int) -> bool:
    """The same for loops that learn nothing: there is less in them that several threads could share."""
    return torch.get_num_threads() == 1 or size <= SMALL


def team(rows: int) -> int:
    """How many threads share out so many rows."""
    return max(1, min(torch.get_num_threads(), rows // LEAST)) if joins_threads() else 1


@cache
def panel() -> int:
    """How many outputs lie side by side."""
    return int(loaded().panel_outputs())


def packed(*weights: Tensor) -> Tensor:
    """W (outputs, inputs), in any layout, for x Wᵀ; several as if they stood one below the other"""
    if len(weights) > 1 and any(weight.size(0) % panel() for weight in weights[:-1]):
        weights = (torch.cat(weights),)
    counts = [-(-weight.size(0) // panel()) * panel() * weight.size(1) for weight in weights]
    room = weights[0].new_empty(sum(counts))
    place, kernels = room.data_ptr(), loaded()
    for weight, count in zip(weights, counts, strict=True):
        kernels.pack(*weight.shape, *weight.stride(), weight.data_ptr(), place)
        place += count * room.element_size()
    return room


def laid(weight: Tensor, room: Scratch) -> int:
    """The same of one weight for as long as the room is held: its address"""
    outputs, inputs = weight.shape
    place = room.address(-(-outputs // panel()) * panel() * inputs)
    loaded().pack(outputs, inputs, *weight.stride(), weight.data_ptr(), place)
    return place


class Steps:
    """onto += x Wᵀ, step after step: W is packed once, on one thread; on several torch multiplies, which uses all."""

    def __init__(self, weight: Tensor):  # (O, I)
        self.outputs, self.inputs = weight.shape
        self.turned = weight.t()  # (I, O)
        self.packed = packed(weight) if torch.get_num_threads() == 1 else None

    def __call__(self, x: Tensor, onto: Tensor) -> None:
        """(B, I), (B, O)"""
        if self.packed is None:
            onto.addmm_(x, self.turned)
        else:
            loaded().add_rows(onto.size(0), self.outputs, self.inputs, *map(address, (x, self.packed, onto)))
