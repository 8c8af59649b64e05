"""Steps of torch's Adam and AdamW over all weights at once, the gradient shortened on the way.

torch's own take a call of their own for every weight to measure its gradient, one more pass to shorten it, and a third
of the time of such a step to prepare it; small models have many small weights.
"""

import ctypes
import math

import torch
from torch import Tensor, nn
from torch.autograd.graph import increment_version

from regard.fast.kernels import library, loaded, whole_numbers
from regard.fast.switch import wanted

BESIDE = 1e-6  # torch.nn.utils.clip_grad_norm_ adds it to the length


class Adam:
    """An optimiser of torch, whose statistics stay where and what they are."""

    def __init__(self, optimiser: torch.optim.Adam):
        self.optimiser = optimiser
        self.decoupled = isinstance(optimiser, torch.optim.AdamW)

    def length(self) -> float:
        """Of the gradient of all weights."""
        _, gradients = self._learning()
        counts, addresses = whole_numbers(*(one.numel() for one in gradients)), _addresses(gradients)
        squares = ctypes.c_double()
        loaded().squares(torch.get_num_threads(), len(gradients), counts, addresses, ctypes.byref(squares))
        return math.sqrt(squares.value)

    def step(self, length: float, longest: float) -> None:
        """With a gradient of this length, shortened to the longest allowed (0: any)."""
        (options,), (weights, gradients) = self.optimiser.param_groups, self._learning()
        states = [self._state(one) for one in weights]
        kept = [one[kind] for kind in ("exp_avg", "exp_avg_sq", "step") for one in states]
        counts, addresses = whole_numbers(*(one.numel() for one in weights)), _addresses([*weights, *gradients, *kept])
        share = min(1.0, longest / (length + BESIDE)) if longest else 1.0
        numbers = [share, options["lr"], *options["betas"], options["eps"], options["weight_decay"]]
        chosen = (ctypes.c_double * len(numbers))(*numbers)
        loaded().adam(torch.get_num_threads(), len(weights), self.decoupled, counts, addresses, chosen)
        increment_version(weights)  # for those who keep something that was made of them

    def _learning(self) -> tuple[list[Tensor], list[Tensor]]:
        """Weights that have a gradient, and these."""
        weights = [one for one in self.optimiser.param_groups[0]["params"] if one.grad is not None]
        return weights, [one.grad for one in weights]

    def _state(self, weight: Tensor) -> dict[str, Tensor]:
        state: dict[str, Tensor] = self.optimiser.state[weight]
        if not state:  # what torch begins with
            state["step"] = torch.zeros((), dtype=torch.float32)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
        return state


def fast_adam(optimiser: torch.optim.Optimizer) -> Adam | None:
    """Where there is a kernel for such weights."""
    (options,) = optimiser.param_groups
    fits = all(one.dtype == torch.float32 and one.is_contiguous() and wanted(one) for one in options["params"])
    if not (isinstance(optimiser, torch.optim.Adam) and fits) or library() is None:
        return None
    return None if options["amsgrad"] or options["maximize"] else Adam(optimiser)


def step(optimiser: torch.optim.Optimizer, longest: float) -> None:
    """One step with a gradient that is no longer than this, by kernels.c where it can be."""
    fast = fast_adam(optimiser)
    if fast is not None:
        fast.step(fast.length(), longest)
        return
    nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], longest)
    optimiser.step()


def _addresses(tensors: list[Tensor]) -> ctypes.Array[ctypes.c_int64]:
    assert all(one.is_contiguous() for one in tensors)
    return whole_numbers(*(one.data_ptr() for one in tensors))
