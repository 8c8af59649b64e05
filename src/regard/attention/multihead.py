"""Several attentions side by side, each over its own view of the values."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Attended, Encoded, Memory, Trace
from regard.attention.soft import Attention
from regard.errors import UsageError
from regard.fast.gathering import Repeated


class MultiHead(nn.Module):
    """c_t = O [c_t¹; …; c_tᴷ],   c_tᵏ from head k over the values P_k h_j       Vaswani et al. 2017, 3.2.2

    The heads are ready-made attentions. Head k reads values of its own size: its score is built with that as
    value size. The weights given, also to the trace that terms look back at, are the mean over the heads.
    """

    attends = True

    def __init__(self, heads: Sequence[Attention], value_size: int):
        super().__init__()
        if not heads:
            raise UsageError("multi-head attention got no heads; it needs at least one")
        self.size = value_size
        self.looks_back = any(head.looks_back for head in heads)
        self.heads = nn.ModuleList(heads)
        self.P = nn.ModuleList([nn.Linear(value_size, head.size, bias=False) for head in heads])
        # Without biases a row with nothing to read keeps a context of zero.
        self.O = Repeated(sum(head.size for head in heads), value_size, bias=False)

    def remember(self, encoded: Encoded) -> tuple[Memory, ...]:
        heads = cast("list[Attention]", self.heads)  # ModuleList forgets what it holds
        views = [encoded._replace(values=project(encoded.values)) for project in self.P]
        return tuple(head.remember(view) for head, view in zip(heads, views, strict=True))

    def forward(self, query: Tensor, memory: tuple[Memory, ...], trace: Trace | None = None) -> Attended:
        attended = [head(query, part, trace) for head, part in zip(self.heads, memory, strict=True)]
        context = self.O(torch.cat([each.context for each in attended], -1))  # (B, T, V)
        weights = torch.stack([each.weights for each in attended]).mean(0)  # (B, T, S)
        return Attended(context, weights)
