"""What search knows of a model: a function that takes the last symbols and says what may come next."""

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor


class StepOutput(NamedTuple):
    """What one step of R hypotheses gives."""

    log_probs: Tensor  # (R, N)  log p(y_t | y_<t), normalised
    weights: Tensor  # (R, S)  α_t
    state: Any  # a tree of tensors with R rows


Step = Callable[[Tensor, Any, Tensor], StepOutput]
"""step(tokens (R,), state, sources (R,)): row r wrote tokens[r] last and reads source number sources[r].

The same `sources` object is handed in again for as long as no row changes its source, so that a step may keep
what it has gathered for it.
"""
