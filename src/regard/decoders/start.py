"""The decoder's first state s_0, from what the encoder read."""

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded
from regard.cells import CellState
from regard.errors import UsageError
from regard.fast.products import linear

Layers = tuple[CellState, ...]


class Start(nn.Module):
    """Every start is built as Name(value_size, size, layers, parts): for `layers` cells with `parts` tensors each."""

    def __init__(self, value_size: int, size: int, layers: int, parts: int):
        super().__init__()
        self.shape = (layers, parts, size)
        self._make(value_size, layers * parts * size)

    def _make(self, value_size: int, numbers: int) -> None:
        """Make the start's own layers."""

    def flat(self, encoded: Encoded) -> Tensor:
        """All first states side by side, (B, layers · parts · H)."""
        raise NotImplementedError

    def forward(self, encoded: Encoded) -> Layers:
        states = self.flat(encoded).view(-1, *self.shape)  # (B, layers, parts, H)
        return tuple(tuple(layer.unbind(1)) for layer in states.unbind(1))


class ZeroStart(Start):
    """s_0 = 0"""

    def flat(self, encoded: Encoded) -> Tensor:
        layers, parts, size = self.shape
        return encoded.summary.new_zeros(encoded.summary.size(0), layers * parts * size)


class LearnedStart(Start):
    """s_0 is a parameter, the same for every source."""

    def _make(self, value_size: int, numbers: int) -> None:
        self.first = nn.Parameter(torch.zeros(numbers))

    def flat(self, encoded: Encoded) -> Tensor:
        return self.first.expand(encoded.summary.size(0), -1)


class LastStart(Start):
    """s_0 = tanh(W h_S): the encoder's last state in the decoder's size            Bahdanau et al. 2015, A.2.2"""

    def _make(self, value_size: int, numbers: int) -> None:
        self.W = nn.Linear(value_size, numbers)

    def flat(self, encoded: Encoded) -> Tensor:
        return linear(self.W, encoded.summary, squash=True)


class SameStart(Start):
    """s_0 = h_S itself, in every layer; sizes must be equal. An LSTM's carry starts at zero."""

    def _make(self, value_size: int, numbers: int) -> None:
        if value_size != self.shape[2]:
            raise UsageError(
                f"start 'same' copies the encoder's last state of size {value_size} into a decoder of size "
                f"{self.shape[2]}: make them equal, or use start 'last'"
            )

    def flat(self, encoded: Encoded) -> Tensor:
        layers, parts, _ = self.shape
        carry = torch.zeros_like(encoded.summary)
        one = torch.cat([encoded.summary] + [carry] * (parts - 1), -1)  # (B, parts · H)
        return one.repeat(1, layers)


class MeanStart(Start):
    """s_0 = MLP(mean_j h_j), a network of its own for each of h and c            Xu et al. 2015, 3.1.2"""

    def _make(self, value_size: int, numbers: int) -> None:
        layers, parts, size = self.shape
        self.networks = nn.ModuleList(
            nn.Sequential(nn.Linear(value_size, size), nn.Tanh(), nn.Linear(size, size), nn.Tanh())
            for _ in range(layers * parts)
        )

    def flat(self, encoded: Encoded) -> Tensor:
        real = encoded.mask[:, :, None].to(encoded.values.dtype)  # (B, S, 1)
        mean = (encoded.values * real).sum(1) / real.sum(1).clamp(min=1)  # (B, V)
        return torch.cat([network(mean) for network in self.networks], -1)


STARTS: dict[str, type[Start]] = {
    "zero": ZeroStart,
    "learned": LearnedStart,
    "last": LastStart,
    "same": SameStart,
    "mean": MeanStart,
}
