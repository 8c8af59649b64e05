"""An answer, and how good it is."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import UsageError

LEAST_READ = 1e-4
"""A place read less than this counts as read this much; its logarithm is the price of an unread place."""


class Hypothesis(NamedTuple):
    tokens: list[int]  # T symbols, without BEGIN and END
    score: float  # what answers are ranked by
    log_prob: float  # log p(y_1 … y_T [END] | source), the model's own
    weights: NDArray[np.floating[Any]]  # (T, S)  one row of attention for each of the tokens
    finished: bool  # False when it was cut off before END


def divisors(lengths: Tensor, penalty: float) -> Tensor:
    """|y|^λ of floating-point lengths; an empty y counts as one symbol."""
    if penalty < 0:
        raise UsageError(f"a length penalty of {penalty} came; it must be 0 (none) or more, 1 for a mean per symbol")
    return (lengths.clamp(min=1) ** penalty).clamp(max=torch.finfo(lengths.dtype).max)  # −∞ / ∞ would be no number


def normalised(log_prob: Tensor, length: int | Tensor, penalty: float) -> Tensor:
    """log p(y) / |y|^λ, where |y| counts END if it was written."""
    return log_prob / divisors(torch.as_tensor(length).to(log_prob), penalty)


def as_numpy(weights: Tensor) -> NDArray[np.floating[Any]]:
    """The weights of many hypotheses at once: cutting a tensor costs ten times as much as cutting an array."""
    known = weights if weights.dtype in (torch.float32, torch.float64) else weights.float()  # numpy has no bfloat16
    array: NDArray[np.floating[Any]] = known.detach().cpu().numpy()
    return array


class Scoring(NamedTuple):
    """score = log p(y) / |y|^λ + β Σ_j log min(Σ_t α_tj, 1)            after Wu et al. 2016, section 7

    j runs over the real places of the source, t over the symbols of y without END.
    """

    length_penalty: float  # λ
    coverage_penalty: float  # β
    mask: Tensor | None  # (B, S)  None: all places are real

    def score(self, log_prob: Tensor, length: int, read: Tensor, sources: Tensor) -> Tensor:
        """(R,) from log p (R,), the length |y| of all, Σ_t α_t (R, S) and the sources (R,) they read."""
        if self.coverage_penalty == 0:
            return normalised(log_prob, length, self.length_penalty)
        unread = read.to(log_prob.dtype).clamp(LEAST_READ, 1).log()  # (R, S)
        if self.mask is not None:
            unread = unread * self.mask[sources]
        return normalised(log_prob, length, self.length_penalty) + self.coverage_penalty * unread.sum(-1)

    def bound(self, log_prob: Tensor, longest: Tensor) -> Tensor:
        """No continuation of a y with log_prob scores more, if it has at most `longest` symbols and END:

        log p only falls, the greatest length divides it most kindly, and coverage adds at best 0.
        """
        return normalised(log_prob, longest + 1, self.length_penalty)
