"""Dropout, fresh at every place or one mask for a whole sequence."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.fast.dropping import Draws, drop


class Noise(NamedTuple):
    """A decoder's masks, drawn before its first step and used at all; all None where dropout is not variational."""

    word: Tensor | None  # (B, E)
    states: tuple[Tensor | None, ...]  # (B, H)  on each layer's own past
    inputs: tuple[Tensor | None, ...]  # (B, H)  on what each layer reads of those below; the first reads words
    readout: Tensor | None  # (B, R)


class Dropout(nn.Module):
    """Zero a share of the numbers while training and scale the rest, so that the mean stays.

    Variational (Gal & Ghahramani 2016): a sequence keeps one mask at all its places.
    """

    def __init__(self, share: float, variational: bool = False):
        super().__init__()
        self.share = share
        self.variational = variational

    def forward(self, vectors: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D); also (B, D), one step, which only a mask (B, D) can tie to the other steps."""
        if mask is not None:
            return vectors * (mask if vectors.dim() == 2 else mask[:, None])
        if not self.training or self.share == 0:
            return vectors
        if self.variational and vectors.dim() == 3:
            return vectors * self._mask(vectors[:, :1])  # (B, 1, D) over all T
        return nn.functional.dropout(vectors, self.share) if vectors.device.type != "cpu" else drop(vectors, self.share)

    @property
    def draws_masks(self) -> bool:
        """Whether a sequence has masks of its own."""
        return self.training and self.variational and self.share > 0

    def draws(self) -> Draws:
        """For a kernel that drops on its way, at every place anew."""
        return Draws.of(self.share if self.training else 0.0)

    def noise(self, states: Tensor, layers: int, embed: int, readout: int) -> Noise:
        """Masks for a decoder of `layers` layers whose first states are like `states` (B, H)."""
        if not self.draws_masks:
            return Noise(None, (None,) * layers, (None,) * layers, None)
        word, end = states.new_empty(len(states), embed), states.new_empty(len(states), readout)
        pasts, inputs = (tuple(self._mask(states) for _ in range(layers)) for _ in range(2))
        return Noise(self._mask(word), pasts, inputs, self._mask(end))

    def fresh(self, like: Tensor) -> Tensor | None:
        """What `forward` would multiply such vectors by; None where it would leave them alone."""
        return self._mask(like) if self.training and self.share > 0 else None

    def _mask(self, like: Tensor) -> Tensor:
        """0 with probability `share`, else 1 / (1 − share)."""
        ones = torch.ones_like(like, memory_format=torch.contiguous_format)
        return nn.functional.dropout(ones, self.share) if like.device.type != "cpu" else drop(ones, self.share)
