"""Every place should be looked at about once: the doubly stochastic penalty, as a loss on where attention looks."""

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.data.vocabulary import PAD
from regard.losses import Loss, Wanted


class DoublyStochastic(nn.Module):
    """−log p(y | x) + λ Σ_j (1 − Σ_t α_tj)²            Xu et al. 2015, eq. 14

    The softmax makes each step sum to 1 over the places; this asks that each place sums to 1 over the steps. j runs
    over the real places and t over the symbols of the answer with its END, since the look that ends an answer is a look
    too (the authors count it). With T steps over S places the least it can be is S (1 − T/S)², at equal sums.
    """

    looks = True

    def __init__(self, weight: float):
        super().__init__()
        self.weight = weight  # λ

    def join(self, loss: Loss, encoded: Encoded, weights: Tensor | None, wanted: Wanted) -> Loss:
        assert weights is not None
        price = unevenness(weights, wanted.targets != PAD, encoded.mask)
        return loss._replace(total=loss.total + self.weight * price)


def unevenness(weights: Tensor, steps: Tensor, places: Tensor) -> Tensor:
    """Σ_j (1 − Σ_t α_tj)² of weights (B, T, S) over the steps (B, T) and places (B, S) that are real"""
    precise = weights.to(torch.promote_types(weights.dtype, torch.float32))  # (B, T, S)
    seen = (precise * steps[:, :, None]).sum(1)  # (B, S)
    return ((1 - seen) ** 2 * places).sum()
