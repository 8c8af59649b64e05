"""The encoder of a model that reads no source."""

import torch
from torch import nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded


class Nothing(nn.Module):
    """Whatever comes, there are no places to look at, S = 0, and the summary says nothing."""

    size = 1

    def forward(self, source: Padded) -> Encoded:
        rows, device = len(source.lengths), source.lengths.device
        nothing = torch.zeros(rows, 1, device=device)
        return Encoded(nothing[:, :0, None], torch.zeros(rows, 0, dtype=torch.bool, device=device), nothing)
