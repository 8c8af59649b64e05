"""Weights laid out for the products of kernels.c: a few rows times the same weights, step after step.

A library's product packs its weights anew at every call; a loop packs them once. Several threads share out the rows;
where there are too few rows for most of them, the loops stay with torch, whose products use all threads.
"""

import torch
from torch import Tensor

from regard.fast.kernels import joins_threads, loaded

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


def packed(weight: Tensor) -> Tensor:
    """W (outputs, inputs), in any layout, for x Wᵀ"""
    (outputs, inputs), kernels = weight.shape, loaded()
    panel = kernels.panel_outputs()
    room = weight.new_empty(-(-outputs // panel) * panel * inputs)
    kernels.pack(outputs, inputs, *weight.stride(), weight.data_ptr(), room.data_ptr())
    return room
