"""Attention that looks at one spot at a time: a penalty on how widely the weights of a step are spread."""

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.vocabulary import PAD
from regard.losses import Loss, Wanted


class Localization(nn.Module):
    """−log p(y | x) + λ Σ_t d(α_t),  after the idea of Anjum & Khan 2021 (CALText)

    variance:  d(α) = Σ_j α_j ‖p_j − p̄‖²,  p̄ = Σ_j α_j p_j       how far from their middle the weights lie, in places²
    gini:      d(α) = 1 − Σ_j α_j²                               how many places share them, wherever these lie

    Both are 0 for a step that looks at one place alone and greater for any other. p_j is the row and column of place j
    where there is a plane, else its number. (The norm that the paper takes, Σ_j |α_j|, is 1 for all weights, and has no
    gradient.) t runs over the symbols of the answer with its END.
    """

    looks = True

    def __init__(self, weight: float, kind: str = "variance"):
        super().__init__()
        self.weight = weight  # λ
        self.spread = SPREADS[kind]  # d

    def join(self, loss: Loss, encoded: Encoded, weights: Tensor | None, wanted: Wanted) -> Loss:
        assert weights is not None
        precise = weights.to(torch.promote_types(weights.dtype, torch.float32))  # (B, T, S)
        price = self.spread(precise, positions(encoded).to(precise.dtype))  # (B, T)
        return loss._replace(total=loss.total + self.weight * (price * (wanted.targets != PAD)).sum())


def positions(encoded: Encoded) -> Tensor:
    """p_j: (B, S, 2) in a plane, (B, S, 1) in a row"""
    if encoded.grid is not None:
        return encoded.grid
    return encoded.mask.cumsum(1)[:, :, None]


def variance(weights: Tensor, places: Tensor) -> Tensor:
    """Σ_j α_j ‖p_j − p̄‖²            (B, T, S), (B, S, D) -> (B, T)"""
    middle = weights @ places  # (B, T, D)  p̄
    distance = (places[:, None] - middle[:, :, None]).square().sum(-1)  # (B, T, S)
    return (weights * distance).sum(-1)


def gini(weights: Tensor, places: Tensor) -> Tensor:
    """1 − Σ_j α_j², written so that it is 0 where nothing can be looked at: Σ_j α_j (1 − α_j)    (B, T, S) -> (B, T)"""
    return (weights * (1 - weights)).sum(-1)


SPREADS = {"variance": variance, "gini": gini}
