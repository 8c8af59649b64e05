"""What attention reads and what it writes: small named tuples, all batch first."""

from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor


class Encoded(NamedTuple):
    """What every encoder returns, for words and pictures alike:  encoder(source: Padded) -> Encoded"""

    values: Tensor  # (B, S, V)  h_1 … h_S
    mask: Tensor  # (B, S)     True where there is something to read
    summary: Tensor  # (B, V)     the source as one vector; starts the decoder
    symbols: Tensor | None = None  # (B, S)  what each place holds, as a target symbol, where it may be copied
    grid: Tensor | None = None  # (B, S, 2)  row and column of each place, where places lie in a plane


class Memory(NamedTuple):
    """An encoded source as one attention sees it; keys are computed once per source, not per step."""

    values: Tensor  # (B, S, V)
    keys: Any  # (B, S, A), as the score prepared them
    mask: Tensor  # (B, S)


class Trace(NamedTuple):
    """Where the attention has looked so far, at steps before t; what it does at step t is not yet in it."""

    previous: Tensor  # (B, S)  α_{t-1}
    total: Tensor  # (B, S)  Σ_{t'<t} α_t'
    step: Tensor  # (B,)    the number of symbols written
    grid: Tensor | None = None  # (B, S, 2)  how the places lie, as in Encoded

    @classmethod
    def begin(cls, mask: Tensor, dtype: torch.dtype, grid: Tensor | None = None) -> "Trace":
        """Nothing has been read yet."""
        nowhere = torch.zeros_like(mask, dtype=dtype)  # (B, S)
        return cls(nowhere, nowhere, nowhere.new_zeros(mask.size(0)), grid)

    def after(self, weights: Tensor) -> "Trace":
        """The trace once a step with these weights (B, S) has been taken."""
        return Trace(weights, self.total + weights, self.step + 1, self.grid)


class Attended(NamedTuple):
    """What one call of an attention gives."""

    context: Tensor  # (B, T, V)  c_t
    weights: Tensor  # (B, T, S)  α_tj


class Mechanism(Protocol):
    """What a decoder asks of its attention: Attention, MultiHead, NoContext and FixedContext all have it."""

    size: int  # of the context
    attends: bool  # False: there are no weights to show, they are all zero
    looks_back: bool  # True: every call needs a trace of the past weights, and may ask for one step only

    def remember(self, encoded: Encoded) -> Any: ...  # a tree of batch-first tensors, handed back at every call
    def __call__(self, query: Tensor, memory: Any, trace: Trace | None = None) -> Attended: ...  # (B, T, Q)
