"""Attention that is told where to look: links somebody else made, as a loss beside the decoder's."""

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.losses import Loss, Wanted, supervised_attention


class Supervision(nn.Module):
    """−Σ_t log p(y_t) + λ L(α_true, α)            Mi et al. 2016; Liu et al. 2016. Pairs without links say nothing."""

    looks = True

    def __init__(self, weight: float, kind: str):
        super().__init__()
        self.weight = weight  # λ
        self.kind = kind  # of L: cross-entropy or squared

    def join(self, loss: Loss, encoded: Encoded, weights: Tensor | None, wanted: Wanted) -> Loss:
        if wanted.links is None:
            return loss
        assert weights is not None
        precise = weights.to(torch.promote_types(weights.dtype, torch.float32))  # (B, T, S)
        return loss._replace(
            total=loss.total + self.weight * supervised_attention(precise, wanted.links.to(precise.dtype), self.kind)
        )
