"""Weights laid out for the products of kernels.c: a few rows times the same weights, step after step.

A library's product packs its weights anew at every call; a loop packs them once. torch's products use all threads,
these one, so with several threads the loops stay with torch.
"""

import torch
from torch import Tensor

from regard.fast.kernels import loaded

SMALL = 512  # up to this size of the state search stays inside kernels.c, on one thread; measured at 256


def loops_inside() -> bool:
    """Whether whole loops should run inside kernels.c."""
    return torch.get_num_threads() == 1


def search_inside(size: int) -> bool:
    """The same for loops that learn nothing: there is less in them that several threads could share."""
    return loops_inside() or size <= SMALL


def packed(weight: Tensor) -> Tensor:
    """W (outputs, inputs), in any layout, for x Wᵀ"""
    (outputs, inputs), kernels = weight.shape, loaded()
    panel = kernels.panel_outputs()
    room = weight.new_empty(-(-outputs // panel) * panel * inputs)
    kernels.pack(outputs, inputs, *weight.stride(), weight.data_ptr(), room.data_ptr())
    return room
