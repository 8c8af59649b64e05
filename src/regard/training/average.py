"""Averages of weights: smoother than the last step's, and usually better."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class RunningAverage:
    """w̄ ← d w̄ + (1 − d) w after every update            Polyak & Juditsky 1992

    The decay d grows from 0 to its full value, so that the first, bad weights are soon forgotten.
    """

    def __init__(self, model: nn.Module, decay: float):
        self.decay = decay
        self.weights = [weight.detach().clone() for weight in _learnt(model)]

    @torch.no_grad()
    def update(self, model: nn.Module, updates: int) -> None:
        decay = min(self.decay, (1 + updates) / (10 + updates))
        torch._foreach_lerp_(self.weights, [weight.detach() for weight in _learnt(model)], 1 - decay)

    @torch.no_grad()
    def swap(self, model: nn.Module) -> None:
        """Exchange the model's weights and the averages; a second call brings them back."""
        for mine, weight in zip(self.weights, _learnt(model), strict=True):
            kept = weight.detach().clone()
            weight.copy_(mine)
            mine.copy_(kept)


def _learnt(model: nn.Module) -> list[nn.Parameter]:
    """Frozen weights are their own average."""
    return [weight for weight in model.parameters() if weight.requires_grad]


def mean_weights(several: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of whole checkpoints, weight by weight, in double precision."""
    return {
        name: torch.stack([one[name].double() for one in several]).mean(0).to(weight.dtype)
        for name, weight in several[0].items()
    }
