"""Every first state is its equation."""

import numpy as np
import pytest
import torch
from torch import nn

from regard.attention import Encoded
from regard.decoders.start import STARTS
from regard.errors import UsageError
from tests.tiny import arrays

B, S, V, H = 3, 5, 7, 11
LAYERS, PARTS = 2, 2  # two layers of LSTMs
LENGTHS = torch.tensor([5, 2, 1])
every_start = pytest.mark.parametrize("kind", STARTS)


def encoded() -> Encoded:
    torch.manual_seed(1)
    values = torch.randn(B, S, V, dtype=torch.float64)
    mask = torch.arange(S) < LENGTHS[:, None]
    return Encoded(values, mask, torch.randn(B, V, dtype=torch.float64))


def make(kind: str, layers: int = LAYERS, parts: int = PARTS) -> nn.Module:
    torch.manual_seed(0)
    start = STARTS[kind](V, V if kind == "same" else H, layers, parts).double()
    for weight in start.parameters():
        nn.init.normal_(weight, std=0.5)
    return start


def by_hand(kind: str, start: nn.Module, row: int, layer: int, part: int) -> np.ndarray:
    source, number = encoded(), layer * PARTS + part
    if kind == "zero":
        return np.zeros(H)
    if kind == "learned":
        (first,) = arrays(start)
        return first[number * H : (number + 1) * H]
    if kind == "last":
        W, b = arrays(start)
        return np.tanh(W @ source.summary[row].numpy() + b)[number * H : (number + 1) * H]
    if kind == "same":
        return source.summary[row].numpy() if part == 0 else np.zeros(V)
    W, b, U, d = arrays(start.networks[number])
    mean = source.values[row, : int(LENGTHS[row])].numpy().mean(0)
    return np.tanh(U @ np.tanh(W @ mean + b) + d)


@every_start
def test_is_its_equation(kind: str) -> None:
    start = make(kind)
    found = start(encoded())
    assert [len(layer) for layer in found] == [PARTS] * LAYERS
    for layer, cell in enumerate(found):
        for part, state in enumerate(cell):
            for row in range(B):
                expected = by_hand(kind, start, row, layer, part)
                np.testing.assert_allclose(state[row].detach(), expected, atol=1e-12)


@every_start
@pytest.mark.parametrize(("layers", "parts"), [(1, 1), (3, 1), (1, 2)])
def test_there_is_a_state_for_every_layer_and_part(kind: str, layers: int, parts: int) -> None:
    found = make(kind, layers, parts)(encoded())
    assert [[tuple(state.shape) for state in cell] for cell in found] == [
        [(B, V if kind == "same" else H)] * parts
    ] * layers


def test_the_mean_is_over_real_places() -> None:
    start, source = make("mean"), encoded()
    garbage = torch.where(source.mask[:, :, None], source.values, 1e3)
    assert torch.equal(start(source._replace(values=garbage))[1][1], start(source)[1][1])


def test_nothing_to_read_is_no_reason_for_nan() -> None:
    source = encoded()
    found = make("mean")(source._replace(mask=torch.zeros_like(source.mask)))
    assert all(state.isfinite().all() for cell in found for state in cell)


def test_same_needs_one_size() -> None:
    with pytest.raises(UsageError, match=r"size 7 into a decoder of size 11.*'last'"):
        STARTS["same"](V, H, 1, 1)
