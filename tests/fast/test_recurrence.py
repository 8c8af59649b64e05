"""A layer inside kernels.c against torch's own packed loop, for every number of rows that its tiles know."""

import pytest
import torch
from torch import Tensor, nn

from regard.encoders.recurrent import FusedLayer
from regard.fast import inside, kernels, recurrence
from regard.fast.switch import plain

pytestmark = pytest.mark.skipif(kernels.library() is None, reason="this machine has no C compiler")


@pytest.fixture(params=[1, 3], autouse=True)
def number_of_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recurrence, "loops_inside", lambda rows: True)
    monkeypatch.setattr(inside, "team", lambda rows: min(request.param, rows))


def outcome(layer: FusedLayer, vectors: Tensor, lengths: Tensor) -> list[Tensor]:
    """Values, last states, and the gradients of a loss that weighs each number differently."""
    layer.zero_grad()
    vectors = vectors.clone().requires_grad_()
    values, last = layer(vectors, lengths)
    weights = torch.linspace(-1, 1, values.numel()).view_as(values)
    ((values * weights).sum() + last.square().sum()).backward()
    assert vectors.grad is not None
    gradients = [weight.grad for weight in layer.parameters() if weight.grad is not None]
    return [values.detach(), last.detach(), vectors.grad, *gradients]


@pytest.mark.parametrize("rows", range(1, 27))
@pytest.mark.parametrize("bidirectional", [False, True])
def test_every_number_of_rows(rows: int, bidirectional: bool) -> None:
    torch.manual_seed(rows)
    layer = FusedLayer("lstm", 5, 19, bidirectional)  # 76 gates: panels that are full, and one that is not
    for weight in layer.parameters():
        nn.init.normal_(weight, std=0.3)
    lengths = torch.randint(1, 8, (rows,))
    lengths[rows // 2] = 7
    vectors = torch.randn(rows, 7, 5)
    fast = outcome(layer, vectors, lengths)
    with plain():
        reference = outcome(layer, vectors, lengths)
    for one, other in zip(fast, reference, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_what_stands_beyond_a_sequence_is_not_read() -> None:
    """However far out it is, it changes nothing and gets no gradient."""
    layer, lengths = FusedLayer("lstm", 5, 19, True), torch.tensor([3, 7, 1])
    vectors = torch.randn(3, 7, 5)
    clean = outcome(layer, vectors, lengths)
    vectors[0, 3:] = vectors[2, 1:] = 1e30
    dirty = outcome(layer, vectors, lengths)
    for one, other in zip(clean, dirty, strict=True):
        assert torch.equal(one, other)
