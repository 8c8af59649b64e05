"""Greedy search: the likeliest symbol, again and again."""

from typing import Any

import torch
from torch import Tensor

from regard.search.constraints import Constraints, Limits
from regard.search.hypothesis import Hypothesis
from regard.search.step import Step
from regard.search.tree import device_of
from regard.search.walk import walk


def greedy(step: Step, state: Any, limits: Limits, *, sources: int, length_penalty: float = 1.0) -> list[Hypothesis]:
    """y_t = argmax_y p(y | y_<t), one hypothesis for each source; of equals, the lower number."""
    rules = Constraints(limits, sources, device_of(state))
    rows = torch.arange(sources, device=rules.longest.device)
    return walk(step, state, rules, rows, _likeliest, length_penalty)


def _likeliest(allowed: Tensor, walkers: Tensor, place: int) -> Tensor:
    return allowed.argmax(-1)  # (R,)  the first of equals
