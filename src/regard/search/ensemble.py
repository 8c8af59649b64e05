"""Several models that write one answer together."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.errors import UsageError
from regard.search.step import Step, StepOutput


def ensemble(steps: Sequence[Step]) -> Step:
    """p(y) = mean_m p_m(y),  α = mean of α_m over the members that attend;  the state is the tuple of theirs."""
    if not steps:
        raise UsageError("an ensemble of no models was asked for; give at least one")

    def step(tokens: Tensor, state: Any, sources: Tensor) -> StepOutput:
        outputs = [member(tokens, own, sources) for member, own in zip(steps, state, strict=True)]
        log_probs = _together([output.log_probs for output in outputs], "symbols")  # (M, R, N)
        weights = _together([output.weights for output in outputs], "source places")  # (M, R, S)
        log_mean = log_probs.logsumexp(0) - math.log(len(steps))  # (R, N)
        attending = (weights.sum(-1) > 0).sum(0).clamp(min=1)  # (R,)  a member without attention has zeros
        mean = weights.sum(0) / attending[:, None]  # (R, S)
        return StepOutput(log_mean, mean, tuple(output.state for output in outputs))

    return step


def _together(parts: list[Tensor], axis: str) -> Tensor:
    sizes = [part.size(-1) for part in parts]
    if len(set(sizes)) > 1:
        raise UsageError(f"the members of an ensemble have {sizes} {axis}; they must share one vocabulary and source")
    return torch.stack(parts)
