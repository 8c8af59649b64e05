"""The norm over places in one pass is the plain one, cut at zero and masked: what it makes, and all its gradients."""

import pytest
import torch

from regard.encoders.plane import Convolution, PlaceNorm, Plane
from regard.fast import kernels
from regard.fast.place_norm import norm_and_cut
from regard.fast.switch import plain
from tests.encoders.plane_laws import pictures, randomised, together

pytestmark = pytest.mark.skipif(kernels.library() is None, reason="this machine has no C compiler")
SIZES = [(13, 29), (37, 8), (1, 1), (21, 33)]


@pytest.mark.parametrize("channels", [1, 3, 16, 37])
@pytest.mark.parametrize("threads", [1, 2])
def test_equals_the_plain_norm(channels: int, threads: int) -> None:
    norm = randomised(PlaceNorm(channels)).float()
    source = together([one.float() + 3 for one in pictures(channels, SIZES)], more=2)  # far from zero: means must go
    plane = Plane.begin(source)
    weights = torch.randn(source.data.shape, generator=torch.Generator().manual_seed(2))
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = []
        for once in (True, False):
            data, g, b = (one.detach().clone().requires_grad_() for one in (plane.data, norm.g, norm.b))
            if once:
                made = norm_and_cut(data, source.sizes, g, b, norm.epsilon)
                assert made is not None
            else:
                own = PlaceNorm(channels)
                own.g, own.b = torch.nn.Parameter(g.detach()), torch.nn.Parameter(b.detach())
                made = plane.after(own(data, plane.real).relu()).data
                g, b = own.g, own.b
            (made * weights).sum().backward()
            found.append([made.detach(), data.grad, g.grad, b.grad])
    finally:
        torch.set_num_threads(before)
    for fast, slow in zip(*found, strict=True):
        torch.testing.assert_close(fast, slow, atol=1e-5, rtol=1e-5)
    assert found[0][0][0, :, 13:].eq(0).all()  # beyond the first picture
    assert found[0][0].gt(0).any()


@pytest.mark.parametrize("stride", [1, 2])
def test_a_layer_uses_it(stride: int) -> None:
    layer = randomised(Convolution(2, 5, 3, stride, "places")).float()
    plane = Plane.begin(together([one.float() for one in pictures(2)], more=1))
    fast = layer(plane)
    assert "NormAndCut" in type(fast.data.grad_fn.next_functions[0][0]).__name__
    with plain():
        slow = layer(plane)
    torch.testing.assert_close(fast.data, slow.data, atol=1e-5, rtol=1e-5)
    assert fast.sizes.equal(slow.sizes)
    assert fast.real.equal(slow.real)


def test_other_numbers_are_left_to_torch() -> None:
    data, sizes, ones = torch.randn(1, 2, 3, 4), torch.tensor([[3, 4]]), torch.ones(2)
    assert norm_and_cut(data.double(), sizes, ones.double(), ones.double(), 1e-5) is None
    with plain():
        assert norm_and_cut(data, sizes, ones, ones, 1e-5) is None
