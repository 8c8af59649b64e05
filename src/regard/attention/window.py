"""A window that the query puts somewhere on the source: local attention with predicted places."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.errors import UsageError


class Window(NamedTuple):
    """What a window does to the energies of one call."""

    bias: Tensor  # (B, T, S)  to be added to the energy
    readable: Tensor  # (B, T, S)  True on real places within reach


class LocalWindow(nn.Module):
    """p_t = S σ(v · tanh(W q_t)),   e_tj ← e_tj − (j − p_t)² / 2σ²,   σ = D/2,   only |j − p_t| ≤ D is read

    Luong, Pham and Manning 2015, 3.2, "local-p". S is each sequence's own length, j = 1 … S counts its real
    places and D is the reach. The paper multiplies the weights by the Gaussian after the softmax, so they no
    longer sum to 1; here it stands in the exponent and they do. The place nearest to p_t can always be read.
    """

    def __init__(self, query_size: int, size: int, reach: float):
        super().__init__()
        if reach <= 0:
            raise UsageError(f"a window reaches {reach} places to each side; the reach must be greater than 0")
        self.reach = reach
        self.W = nn.Linear(query_size, size, bias=False)
        self.v = nn.Linear(size, 1, bias=False)

    def forward(self, query: Tensor, mask: Tensor) -> Window:
        # In fp32 at least: bf16 cannot tell place 257 from place 258.
        exact = torch.promote_types(query.dtype, torch.float32)
        places = mask.cumsum(-1).to(exact)  # (B, S)  1 … S on real places
        length = mask.sum(-1).to(exact)[:, None, None]  # (B, 1, 1)
        centre = length * self.v(self.W(query).tanh()).sigmoid()  # (B, T, 1)  p_t
        distance = (places[:, None] - centre).abs()  # (B, T, S)
        nearest = distance.masked_fill(~mask[:, None], torch.inf).amin(-1, keepdim=True)  # (B, T, 1)
        readable = mask[:, None] & (distance <= nearest.clamp(min=self.reach))  # (B, T, S)
        bias = -2 * (distance / self.reach) ** 2  # (B, T, S)  1/2σ² = 2/D²
        return Window(bias.to(query.dtype), readable)
