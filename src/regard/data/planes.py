"""Pictures and clips of unequal size as one tensor."""

from typing import NamedTuple

import torch
from torch import Tensor


class Pictures(NamedTuple):
    """Pictures in one rectangle, each in its upper left corner; what lies to its right and below is zero."""

    data: Tensor  # (B, C, H, W)
    sizes: Tensor  # (B, 2)  height and width of each

    @property
    def mask(self) -> Tensor:
        return plane_mask(self.sizes, self.data.size(2), self.data.size(3))  # (B, H, W)

    def to(self, device: torch.device) -> "Pictures":
        return Pictures(self.data.to(device), self.sizes.to(device))


class Clips(NamedTuple):
    """Clips in one block, each at its beginning and in the upper left corner; what lies beyond is nothing."""

    data: Tensor  # (B, F, C, H, W)
    lengths: Tensor  # (B,)  frames of each
    sizes: Tensor  # (B, 2)  height and width of each

    @property
    def mask(self) -> Tensor:
        return torch.arange(self.data.size(1), device=self.data.device) < self.lengths[:, None]  # (B, F)

    @property
    def places(self) -> Tensor:
        """(B, F, H, W)  True on the real pixels of real frames"""
        return self.mask[:, :, None, None] & plane_mask(self.sizes, self.data.size(3), self.data.size(4))[:, None]

    def to(self, device: torch.device) -> "Clips":
        return Clips(self.data.to(device), self.lengths.to(device), self.sizes.to(device))


def plane_mask(sizes: Tensor, height: int, width: int) -> Tensor:
    """True on the real places (B, H, W) of planes whose heights and widths are `sizes` (B, 2)."""
    rows = torch.arange(height, device=sizes.device) < sizes[:, :1]  # (B, H)
    columns = torch.arange(width, device=sizes.device) < sizes[:, 1:]  # (B, W)
    return rows[:, :, None] & columns[:, None]
