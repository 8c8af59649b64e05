"""Terms that join the keys at each step, so that attention knows where it is and has looked:  k_tj = U h_j + W f_tj.

In an additive score they stand inside the tanh, e_tj = v · tanh(W_q q_t + U h_j + W f_tj). A term is built as
Name(key_size, width) and called as term(trace, mask) -> (B, S, key_size). Weights are zero outside the real
places, so what a term sees beyond the last of them is the same whether padding or nothing comes there.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from regard.attention.memory import Trace
from regard.errors import UsageError
from regard.fast.gathering import Repeated

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


class PlaneTerm(nn.Module):
    """f_t = Q * Σ_{t'<t} α_t' in the plane            Zhang et al. 2017 (WAP); Anjum & Khan 2021 (CALText)

    Coverage of a picture, whose neighbours lie in all directions: Q is width × width, in both papers 11 × 11. The
    weights come as a row; the trace's grid says where each lies.
    """

    def __init__(self, key_size: int, width: int):
        super().__init__()
        _check_width(width)
        self.filters = nn.Conv2d(1, FILTERS, width, padding=width // 2, bias=False)
        self.project = nn.Linear(FILTERS, key_size, bias=False)

    def forward(self, trace: Trace, mask: Tensor) -> Tensor:
        if trace.grid is None:
            raise UsageError(
                "the term plane needs places that lie in a plane, but this source is a row without one: "
                "read pictures, or use the term coverage"
            )
        grid = trace.grid * mask[:, :, None]  # (B, S, 2)
        height, width = (int(last) + 1 for last in grid.amax((0, 1)))
        places = grid[:, :, 0] * width + grid[:, :, 1]  # (B, S)  padding adds its weight, 0, to the first
        plane = trace.total.new_zeros(len(mask), height * width)
        plane = plane.scatter_add(1, places, trace.total * mask)  # (B, H'·W')
        seen = self.filters(plane.view(-1, 1, height, width)).flatten(2)  # (B, F, H'·W')
        found = seen.gather(2, places[:, None].expand(-1, FILTERS, -1))  # (B, F, S)
        term: Tensor = self.project(found.transpose(1, 2))  # (B, S, A)
        return term


class PositionTerm(nn.Module):
    """W^p ψ(t, j, S),  ψ = [log(1 + t), log(1 + j), log(1 + S)]       Cohn et al. 2016: words keep their order

    Steps t and places j count from 1; S is the source's own length, so padding says nothing. It has no width.
    """

    def __init__(self, key_size: int, width: int):
        super().__init__()
        self.W = Repeated(3, key_size, bias=False)

    def forward(self, trace: Trace, mask: Tensor) -> Tensor:
        step, length = (trace.step + 1)[:, None], mask.sum(1, keepdim=True)  # (B, 1) each
        place = torch.arange(1, mask.size(1) + 1, device=mask.device)[None]  # (1, S)
        counts = [one.to(step.dtype).expand(mask.shape) for one in (step, place, length)]  # (B, S) each
        term: Tensor = self.W(torch.stack(counts, -1).log1p())  # (B, S, A)
        return term


class MarkovTerm(nn.Module):
    """W^m ξ(α_{t-1}; j),  ξ(α; j) = [α_{j-k} … α_{j+k}]                Cohn et al. 2016: where to go from there"""

    def __init__(self, key_size: int, width: int):
        super().__init__()
        self.neighbours = Neighbours(key_size, width)

    def forward(self, trace: Trace, mask: Tensor) -> Tensor:
        term: Tensor = self.neighbours(trace.previous * mask)  # (B, S, A)
        return term


class FertilityTerm(nn.Module):
    """W^f ξ(Σ_{t'<t} α_t'; j)           Cohn et al. 2016, local fertility: how much of a place has been written"""

    def __init__(self, key_size: int, width: int):
        super().__init__()
        self.neighbours = Neighbours(key_size, width)

    def forward(self, trace: Trace, mask: Tensor) -> Tensor:
        term: Tensor = self.neighbours(trace.total * mask)  # (B, S, A)
        return term


class Surroundings(nn.Module):
    """W (F * a): at each place, the weights a of the places around it, through a few filters, as a key."""

    def __init__(self, key_size: int, width: int):
        super().__init__()
        _check_width(width)
        self.filters = nn.Conv1d(1, FILTERS, width, padding=width // 2, bias=False)
        self.project = nn.Linear(FILTERS, key_size, bias=False)

    def forward(self, weights: Tensor) -> Tensor:
        seen = self.filters(weights[:, None])  # (B, F, S)
        keys: Tensor = self.project(seen.transpose(1, 2))  # (B, S, A)
        return keys


class Neighbours(nn.Module):
    """W ξ(a; j): at each place, the weights a of the 2k + 1 places around it (0 outside), straight as a key."""

    def __init__(self, key_size: int, width: int):
        super().__init__()
        _check_width(width)
        self.project = Repeated(width, key_size, bias=False)

    def forward(self, weights: Tensor) -> Tensor:
        places, width = weights.size(1), self.project.in_features
        wide = pad(weights, (width // 2, width // 2))  # (B, S + 2k)
        window = torch.stack([wide[:, first : first + places] for first in range(width)], -1)  # (B, S, 2k + 1)
        keys: Tensor = self.project(window)  # (B, S, A)
        return keys


def _check_width(width: int) -> None:
    if width < 1 or width % 2 == 0:
        raise UsageError(f"a term looks at {width} places; it needs an odd number, so that one is in the middle")


TERMS: dict[str, Callable[[int, int], nn.Module]] = {
    "location": LocationTerm,
    "coverage": CoverageTerm,
    "plane": PlaneTerm,
    "position": PositionTerm,
    "markov": MarkovTerm,
    "fertility": FertilityTerm,
}
