"""Terms that join the keys at each step, so that attention knows where it has looked:  k_tj = U h_j + W f_tj.

In an additive score they stand inside the tanh, e_tj = v · tanh(W_q q_t + U h_j + W f_tj). A term is built as
Name(key_size, width) and called as term(trace, mask) -> (B, S, key_size). Weights are zero outside the real
places, so what a term sees beyond the last of them is the same whether padding or nothing comes there.
"""

from collections.abc import Callable

from torch import Tensor, nn

from regard.attention.memory import Trace
from regard.errors import UsageError

FILTERS = 10  # per place; Chorowski et al. used 10 on TIMIT


class LocationTerm(nn.Module):
    """f_t = F * α_{t-1}           Chorowski et al. 2015, 2.1: the neighbourhood of where it looked last"""

    def __init__(self, key_size: int, width: int):
        super().__init__()
        self.surroundings = Surroundings(key_size, width)

    def forward(self, trace: Trace, mask: Tensor) -> Tensor:
        term: Tensor = self.surroundings(trace.previous * mask)  # (B, S, A)
        return term


class CoverageTerm(nn.Module):
    """f_t = F * Σ_{t'<t} α_t'     all it has read before step t; width 1 is See, Liu and Manning 2017, 2.3"""

    def __init__(self, key_size: int, width: int):
        super().__init__()
        self.surroundings = Surroundings(key_size, width)

    def forward(self, trace: Trace, mask: Tensor) -> Tensor:
        term: Tensor = self.surroundings(trace.total * mask)  # (B, S, A)
        return term


class Surroundings(nn.Module):
    """W (F * a): at each place, the weights a of the places around it, through a few filters, as a key."""

    def __init__(self, key_size: int, width: int):
        super().__init__()
        if width < 1 or width % 2 == 0:
            raise UsageError(f"a term looks at {width} places; it needs an odd number, so that one is in the middle")
        self.filters = nn.Conv1d(1, FILTERS, width, padding=width // 2, bias=False)
        self.project = nn.Linear(FILTERS, key_size, bias=False)

    def forward(self, weights: Tensor) -> Tensor:
        seen = self.filters(weights[:, None])  # (B, F, S)
        keys: Tensor = self.project(seen.transpose(1, 2))  # (B, S, A)
        return keys


TERMS: dict[str, Callable[[int, int], nn.Module]] = {"location": LocationTerm, "coverage": CoverageTerm}
