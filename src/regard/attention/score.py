"""How well a query fits a key: e_tj = f(q_t, k_j).

A score is two functions: `keys` does what concerns the source alone, once per source; the call compares.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any, Protocol

from torch import Tensor, nn

from regard.errors import UsageError
from regard.fast.energy import Grown, additive_energy, grow, within_reach
from regard.fast.gathering import Repeated
from regard.fast.products import linear


class Score(Protocol):
    """Every score class is built as Name(query_size, value_size, size); size is that of the comparison, A."""

    key_size: int  # of the keys

    def keys(self, values: Tensor) -> Tensor: ...  # (B, S, V) -> (B, S, key_size)
    def prepare(self, keys: Tensor) -> Any: ...  # what else can be done before the first query; also good as keys
    def __call__(self, query: Tensor, keys: Any) -> Tensor: ...  # (B, T, Q), (B, S, key_size) -> (B, T, S)
    def compared(self, query: Tensor) -> Tensor | None: ...  # q' of which e_tj = q'_t · k_j; None: it is no product


class DotScore(nn.Module):
    """e_tj = q_t · h_j            Luong, Pham and Manning 2015, 3.1, "dot". No parameters; size is unused."""

    def __init__(self, query_size: int, value_size: int, size: int):
        super().__init__()
        _check_same(query_size, value_size)
        self.key_size = value_size

    def keys(self, values: Tensor) -> Tensor:
        return values  # (B, S, V)

    def prepare(self, keys: Tensor) -> Tensor:
        return keys

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return query @ keys.transpose(1, 2)  # (B, T, S)

    def compared(self, query: Tensor) -> Tensor:
        return query  # (B, T, key_size)


class ScaledDotScore(nn.Module):
    """e_tj = q_t · h_j / √V       Vaswani et al. 2017, 3.2.1. No parameters; size is unused."""

    def __init__(self, query_size: int, value_size: int, size: int):
        super().__init__()
        _check_same(query_size, value_size)
        self.key_size = value_size

    def keys(self, values: Tensor) -> Tensor:
        return values / sqrt(self.key_size)  # (B, S, V)

    def prepare(self, keys: Tensor) -> Tensor:
        return keys

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return query @ keys.transpose(1, 2)  # (B, T, S)

    def compared(self, query: Tensor) -> Tensor:
        return query  # (B, T, key_size)


class ProjectedScore(nn.Module):
    """e_tj = (W q_t) · (U h_j)    query and value are brought to one size, then compared by dot"""

    def __init__(self, query_size: int, value_size: int, size: int):
        super().__init__()
        self.key_size = size
        self.W = Repeated(query_size, size, bias=False)
        self.U = nn.Linear(value_size, size, bias=False)

    def keys(self, values: Tensor) -> Tensor:
        keys: Tensor = self.U(values)  # (B, S, A)
        return keys

    def prepare(self, keys: Tensor) -> Tensor:
        return keys

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return self.compared(query) @ keys.transpose(1, 2)  # (B, T, S)

    def compared(self, query: Tensor) -> Tensor:
        compared: Tensor = self.W(query)  # (B, T, A)
        return compared


class BilinearScore(nn.Module):
    """e_tj = q_tᵀ W h_j           Luong, Pham and Manning 2015, 3.1, "general". Keys have size Q."""

    def __init__(self, query_size: int, value_size: int, size: int):
        super().__init__()
        self.key_size = query_size
        self.W = nn.Linear(value_size, query_size, bias=False)

    def keys(self, values: Tensor) -> Tensor:
        keys: Tensor = self.W(values)  # (B, S, Q)
        return keys

    def prepare(self, keys: Tensor) -> Tensor:
        return keys

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return query @ keys.transpose(1, 2)  # (B, T, S)

    def compared(self, query: Tensor) -> Tensor:
        return query  # (B, T, key_size)


class AdditiveScore(nn.Module):
    """e_tj = v · tanh(W q_t + U h_j)            Bahdanau, Cho and Bengio 2015, A.1.2"""

    def __init__(self, query_size: int, value_size: int, size: int):
        super().__init__()
        self.key_size = size
        self.W = Repeated(query_size, size, bias=False)
        self.U = nn.Linear(value_size, size)
        self.v = nn.Linear(size, 1, bias=False)

    def keys(self, values: Tensor) -> Tensor:
        return linear(self.U, values)  # (B, S, A)

    def prepare(self, keys: Tensor) -> Grown | Tensor:
        return grow(keys)

    def forward(self, query: Tensor, keys: Grown | Tensor) -> Tensor:
        compared = self.W(query)  # (B, T, A)
        if isinstance(keys, Grown):
            if within_reach(compared):
                return additive_energy(compared, keys, self.v.weight[0])
            keys = keys.keys
        pairs = compared[:, :, None] + keys[:, None]  # (B, T, S, A)
        energy: Tensor = self.v(pairs.tanh()).squeeze(-1)  # (B, T, S)
        return energy

    def compared(self, query: Tensor) -> None:
        return None


class MLPScore(nn.Module):
    """x_1 = tanh(W q_t + U h_j),  x_{l+1} = tanh(W_l x_l + b_l),  e_tj = v · x_L

    An additive score with more hidden layers, L of them; L = 1 is AdditiveScore.
    """

    def __init__(self, query_size: int, value_size: int, size: int, layers: int = 2):
        super().__init__()
        if layers < 1:
            raise UsageError(f"an mlp score has {layers} hidden layers; it needs at least 1")
        self.key_size = size
        self.W = Repeated(query_size, size, bias=False)
        self.U = nn.Linear(value_size, size)
        self.deeper = nn.ModuleList([nn.Linear(size, size) for _ in range(layers - 1)])
        self.v = nn.Linear(size, 1, bias=False)

    def keys(self, values: Tensor) -> Tensor:
        keys: Tensor = self.U(values)  # (B, S, A)
        return keys

    def prepare(self, keys: Tensor) -> Tensor:
        return keys

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        pairs = (self.W(query)[:, :, None] + keys[:, None]).tanh()  # (B, T, S, A)
        for layer in self.deeper:
            pairs = layer(pairs).tanh()  # (B, T, S, A)
        energy: Tensor = self.v(pairs).squeeze(-1)  # (B, T, S)
        return energy

    def compared(self, query: Tensor) -> None:
        return None


def _check_same(query_size: int, value_size: int) -> None:
    if query_size != value_size:
        raise UsageError(
            f"a dot score compares vectors of one size, but the query has size {query_size} and the values "
            f"{value_size}; make the two equal, or choose the score projected or bilinear"
        )


SCORES: dict[str, Callable[[int, int, int], Score]] = {
    "dot": DotScore,
    "scaled": ScaledDotScore,
    "projected": ProjectedScore,
    "bilinear": BilinearScore,
    "additive": AdditiveScore,
    "mlp": MLPScore,
}
