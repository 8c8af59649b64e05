"""Pictures of unequal size as one tensor."""

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


def plane_mask(sizes: Tensor, height: int, width: int) -> Tensor:
    """True on the real places (B, H, W) of planes whose heights and widths are `sizes` (B, 2)."""
    rows = torch.arange(height, device=sizes.device) < sizes[:, :1]  # (B, H)
    columns = torch.arange(width, device=sizes.device) < sizes[:, 1:]  # (B, W)
    return rows[:, :, None] & columns[:, None]
