"""Maps that know which of their places are real, and how they become places to look at."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck

from regard.data.planes import Pictures
from regard.encoders.plane import (
    NORMS,
    ChannelNorm,
    Convolution,
    MapEncoder,
    PlaceNorm,
    Plane,
    max_pool,
    mean_pool,
    pack,
    strided,
)
from tests.encoders.plane_laws import check_alone_is_together, pictures, randomised, together
from tests.tiny import arrays


@pytest.mark.parametrize("kernel", [1, 3, 5, 7])
@pytest.mark.parametrize("strides", [(1,), (2,), (3,), (2, 2, 2), (2, 1, 3, 2)])
def test_a_cell_is_real_iff_the_place_it_stands_on_is(kernel: int, strides: tuple[int, ...]) -> None:
    """Brute force: kernels that copy the middle of their window carry an indicator of real places along."""
    for n in range(1, 30):
        plane = Plane.begin(Pictures(torch.ones(1, 1, n, 31), torch.tensor([[n, 31 - n]])))
        carried = plane.data
        for stride in strides:
            copy = nn.Conv2d(1, 1, kernel, stride, kernel // 2, bias=False)
            nn.init.dirac_(copy.weight)
            carried = copy(carried)
            plane = plane.after(torch.ones_like(carried), stride)
        assert plane.data.equal((carried > 0.5).float())
        assert plane.end().mask[0].equal(carried[0, 0] > 0.5)
        assert plane.sizes.tolist() == [[int(carried[0, 0, :, 0].sum()), int(carried[0, 0, 0].sum())]]


def test_sizes_after_strides_are_rounded_up() -> None:
    sizes = torch.tensor([[1, 2], [7, 8], [224, 225]])
    assert strided(sizes, 2).tolist() == [[1, 1], [4, 4], [112, 113]]
    assert strided(sizes, 3).tolist() == [[1, 1], [3, 3], [75, 75]]
    assert strided(sizes, 1).equal(sizes)


@pytest.mark.parametrize("kernel", [1, 3, 7])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("norm", NORMS)
def test_every_layer_reads_each_picture_as_if_alone(kernel: int, stride: int, norm: str) -> None:
    layer = randomised(Convolution(2, 3, kernel, stride, norm))
    every = pictures(2)
    for step in (layer, max_pool, mean_pool):
        start = Plane.begin(together(every, more=2, filler=7.0))
        start = start._replace(data=start.data.relu())
        made = step(start).end()
        for row, one in enumerate(every):
            alone = step(Plane.begin(together([one.relu()]))).end()
            height, width = made.sizes[row].tolist()
            assert alone.data.shape[2:] == (height, width)
            torch.testing.assert_close(made.data[row, :, :height, :width], alone.data[0], atol=1e-12, rtol=0)
        assert (made.data.masked_select(~made.mask[:, None]) == 0).all()


def test_pools_by_hand() -> None:
    data = torch.tensor([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])[None, None]
    plane = Plane.begin(Pictures(data, torch.tensor([[3, 3]])))
    assert max_pool(plane).data[0, 0].tolist() == [[5, 6], [8, 9]]
    assert mean_pool(plane).data[0, 0].tolist() == [[3, 9 / 4], [15 / 4, 9 / 4]]


def test_channel_norm_is_its_equation() -> None:
    norm = randomised(ChannelNorm(5, epsilon=0.1))
    data = torch.randn(2, 5, 3, 4, dtype=torch.float64)
    g, b = arrays(norm)
    made = norm(data).detach().numpy()
    for row in range(2):
        for i in range(3):
            for j in range(4):
                x = data[row, :, i, j].numpy()
                expected = g * (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).mean() + 0.1) + b
                np.testing.assert_allclose(made[row, :, i, j], expected, atol=1e-12)


def test_channel_norm_needs_no_other_place() -> None:
    norm, data = randomised(ChannelNorm(5)), torch.randn(2, 5, 3, 4, 6, dtype=torch.float64)
    place = (slice(1, 2), slice(None), slice(2, 3), slice(0, 1), slice(4, 5))
    torch.testing.assert_close(norm(data)[place], norm(data[place]), atol=1e-12, rtol=0)


def test_place_norm_is_its_equation() -> None:
    norm = randomised(PlaceNorm(3, epsilon=0.1))
    data, real = torch.randn(2, 3, 4, 5, dtype=torch.float64), torch.zeros(2, 1, 4, 5, dtype=torch.float64)
    sizes = ((4, 3), (2, 5))
    for row, (height, width) in enumerate(sizes):
        real[row, 0, :height, :width] = 1
    g, b = arrays(norm)
    made = norm(data, real).detach().numpy()
    for row, (height, width) in enumerate(sizes):
        for channel in range(3):
            x = data[row, channel, :height, :width].numpy()
            expected = g[channel] * (x - x.mean()) / np.sqrt(x.var() + 0.1) + b[channel]
            np.testing.assert_allclose(made[row, channel, :height, :width], expected, atol=1e-12)


def test_place_norm_of_one_place_is_its_bias() -> None:
    norm = randomised(PlaceNorm(3))
    assert norm(torch.randn(2, 3, 1, 1, dtype=torch.float64))[:, :, 0, 0].equal(norm.b.expand(2, 3))


@pytest.mark.parametrize("norm", NORMS)
def test_gradients(norm: str) -> None:
    every = pictures(2, [(3, 2), (2, 4)])
    layer, sizes = randomised(Convolution(2, 3, 3, 2, norm)), together(every).sizes

    def layers(data: Tensor) -> Tensor:
        return mean_pool(layer(Plane.begin(Pictures(data, sizes)))).data

    def packed(data: Tensor) -> tuple[Tensor, Tensor]:
        encoded = pack(data, sizes)
        return encoded.values, encoded.summary

    assert gradcheck(layers, together(every).data.requires_grad_())
    assert gradcheck(packed, together(every).data.requires_grad_())
    assert gradcheck(randomised(NORMS[norm](2)), together(every).data.requires_grad_())


def test_no_gradient_reaches_padding() -> None:
    source = together(pictures(2))
    data = source.data.clone().requires_grad_()
    encoded = randomised(MapEncoder(2, 3))(Pictures(data, source.sizes))
    (encoded.values.square().sum() + encoded.summary.sum()).backward()
    assert data.grad is not None
    assert (data.grad.masked_select(~source.mask[:, None]) == 0).all()


def test_packing_by_hand() -> None:
    data = torch.arange(12.0).view(1, 1, 3, 4).repeat(3, 1, 1, 1)
    encoded = pack(data, torch.tensor([[2, 3], [3, 1], [1, 4]]))
    assert encoded.values[:, :, 0].tolist() == [[0, 1, 2, 4, 5, 6], [0, 4, 8, 0, 0, 0], [0, 1, 2, 3, 0, 0]]
    assert encoded.mask.int().tolist() == [[1] * 6, [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0]]
    assert encoded.summary[:, 0].tolist() == [3, 4, 1.5]
    assert encoded.grid is not None
    assert encoded.grid[0].tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    assert encoded.grid[1].tolist() == [[0, 0], [1, 0], [2, 0], [0, 0], [0, 0], [0, 0]]


def test_packing_a_full_rectangle_takes_it_as_it_is() -> None:
    data = torch.randn(2, 3, 5, 7).contiguous(memory_format=torch.channels_last)
    encoded = pack(data, torch.tensor([[5, 7], [5, 7]]))
    assert encoded.values.data_ptr() == data.data_ptr()  # no copy
    assert encoded.values.is_contiguous()
    assert encoded.mask.all()
    assert encoded.grid is not None
    rows, columns = encoded.grid[1].unbind(-1)
    assert encoded.values[1].equal(data[1, :, rows, columns].T)
    with_padding = pack(nn.functional.pad(data, (0, 2, 0, 1)), torch.tensor([[5, 7], [5, 7]]))
    assert all(one.equal(other) for one, other in zip(encoded, with_padding, strict=True) if isinstance(one, Tensor))


@pytest.mark.parametrize("size", [None, 3])
def test_maps_computed_before_are_read_as_if_alone(size: int | None) -> None:
    check_alone_is_together(randomised(MapEncoder(5, size)), pictures(5))


def test_a_map_without_projection_is_its_places() -> None:
    source = together(pictures(5))
    encoded = MapEncoder(5)(source)
    expected = pack(*source)
    assert encoded.values.equal(expected.values)
    assert list(MapEncoder(5).parameters()) == []


def test_a_projection_is_its_equation() -> None:
    made, (one,) = randomised(MapEncoder(5, 3)), pictures(5, [(2, 3)])
    W, b = arrays(made)
    places = one.numpy().reshape(5, 6).T  # (S, C)
    np.testing.assert_allclose(made(together([one])).values[0].detach(), np.maximum(0, places @ W.T + b), atol=1e-12)
