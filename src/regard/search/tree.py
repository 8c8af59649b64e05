"""States of any shape: a tensor with rows first, None, or a (named) tuple of such trees."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor


def pick(tree: Any, rows: Tensor) -> Any:
    """The tree with the given rows of every tensor, in that order; a row may be taken twice or not at all."""
    if tree is None:
        return None
    if isinstance(tree, Tensor):
        return tree.index_select(0, rows)
    branches = [pick(branch, rows) for branch in tree]
    return type(tree)(*branches) if hasattr(tree, "_fields") else tuple(branches)


def device_of(tree: Any) -> torch.device:
    """Where the tree's first tensor lives; a tree without tensors lives on the CPU."""
    found = next(_tensors(tree), None)
    return torch.device("cpu") if found is None else found.device


def _tensors(tree: Any) -> Iterator[Tensor]:
    if isinstance(tree, Tensor):
        yield tree
    elif tree is not None:
        for branch in tree:
            yield from _tensors(branch)
