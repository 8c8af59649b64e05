"""How much of what it reads a step wants to know: a gate between an attention and the decoder."""

from typing import Any, cast

from torch import Tensor, nn

from regard.attention.memory import Attended, Encoded, Mechanism, Trace
from regard.fast.gathering import Repeated


class GatedAttention(nn.Module):
    """c_t = β_t Σ_j α_tj h_j,   β_t = σ(f_β(q_t)),   f_β(q) = w · q + b            Xu et al. 2015, 4.2.1

    Around any attention, whose weights stay as they are: the gate says how much of the source a step needs, not where
    it looks. With query=previous q_t is s_{t-1}, as in the paper.
    """

    def __init__(self, attention: Mechanism, query_size: int):
        super().__init__()
        self.attention = cast(nn.Module, attention)
        self.size, self.attends, self.looks_back = attention.size, attention.attends, attention.looks_back
        self.f_beta = Repeated(query_size, 1)

    def remember(self, encoded: Encoded) -> Any:
        return cast(Mechanism, self.attention).remember(encoded)

    def gate(self, query: Tensor) -> Tensor:
        """β_t: (…, Q) -> (…, 1)"""
        odds: Tensor = self.f_beta(query)
        return odds.sigmoid()

    def forward(self, query: Tensor, memory: Any, trace: Trace | None = None) -> Attended:
        attended: Attended = self.attention(query, memory, trace)
        return attended._replace(context=self.gate(query) * attended.context)
