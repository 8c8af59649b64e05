"""How much of an answer each source symbol should account for, as a loss on where attention looks."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.attention.memory import Encoded
from regard.data.vocabulary import END, PAD
from regard.losses import Loss, Wanted

LEAST = 0.1  # the smallest σ: a density without bound would be all that training wants


class Fertility(nn.Module):
    """f_j = Σ_t α_tj ~ N(μ(h_j), σ²(h_j)),  loss −Σ_j log p(f_j)            Cohn et al. 2016, global fertility

    [m; s] = W_2 tanh(W_1 h_j + b_1) + b_2,  μ = softplus(m),  σ = softplus(s) + LEAST. The sums are over the symbols
    that are written, without END, and over the source symbols that are there.
    """

    looks = True

    def __init__(self, value_size: int, size: int, weight: float):
        super().__init__()
        self.hidden = nn.Linear(value_size, size)
        self.normal = nn.Linear(size, 2)
        self.weight = weight

    def forward(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """μ and σ, (B, S) each"""
        both: Tensor = self.normal(self.hidden(values).tanh())  # (B, S, 2)
        mean, deviation = functional.softplus(both.to(torch.promote_types(both.dtype, torch.float32))).unbind(-1)
        return mean, deviation + LEAST

    def join(self, loss: Loss, encoded: Encoded, weights: Tensor | None, wanted: Wanted) -> Loss:
        assert weights is not None
        words = (wanted.targets != PAD) & (wanted.targets != END)  # (B, T)
        mean, deviation = self(encoded.values)
        price = surprise(fertilities(weights, words), mean, deviation)  # (B, S)
        return loss._replace(total=loss.total + self.weight * (price * encoded.mask).sum())


def fertilities(weights: Tensor, words: Tensor) -> Tensor:
    """f_j, (B, S): the share of each place in all that was written at the steps `words` (B, T)"""
    return (weights * words[:, :, None]).sum(1)


def surprise(found: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """−log N(f; μ, σ²) = ½ ((f − μ) / σ)² + log σ + ½ log 2π"""
    return 0.5 * ((found - mean) / deviation) ** 2 + deviation.log() + 0.5 * math.log(2 * math.pi)
