"""EfficientNet-lite with its BatchNorm folded in."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.data.planes import Pictures
from regard.encoders.efficientnet import EPSILON, EfficientNetLite, Folded, scaled
from regard.encoders.plane import Plane
from tests.encoders.plane_laws import check_alone_is_together, pictures, randomised, together


def drawn(norm: nn.BatchNorm2d) -> nn.BatchNorm2d:
    """As if it had been trained."""
    for parameter in norm.parameters():
        nn.init.normal_(parameter, mean=1.0, std=0.3)
    nn.init.normal_(norm.running_mean)
    nn.init.uniform_(norm.running_var, 0.5, 2.0)
    return norm.double().eval()


@pytest.mark.parametrize(("kernel", "stride"), [(1, 1), (3, 1), (3, 2), (5, 1), (5, 2)])
@pytest.mark.parametrize("groups", [1, 4])
def test_a_folded_layer_is_the_convolution_and_its_norm(kernel: int, stride: int, groups: int) -> None:
    """With TensorFlow's padding, at an even size."""
    torch.manual_seed(0)
    layer = Folded(4, 4, kernel, stride, groups).double()
    weight = torch.randn_like(layer.W.weight)
    norm = drawn(nn.BatchNorm2d(4, EPSILON))
    layer.fold(weight, norm.state_dict())
    data = torch.randn(2, 4, 6, 8, dtype=torch.float64)
    total = kernel - stride  # all zeros there are, in each direction
    around = nn.functional.pad(data, (total // 2, total - total // 2) * 2)
    expected = norm(nn.functional.conv2d(around, weight, None, stride, groups=groups)).clamp(0, 6)
    made = layer(Plane.begin(Pictures(data, torch.tensor([[6, 8]] * 2)))).data
    torch.testing.assert_close(made, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("scale", "blocks", "sizes"),
    [
        ("lite0", [1, 2, 2, 3, 3, 4, 1], [16, 24, 40, 80, 112, 192, 320]),
        ("lite2", [1, 3, 3, 4, 4, 5, 1], [16, 24, 48, 88, 120, 208, 352]),
    ],
)
def test_larger_ones_are_wider_and_deeper(scale: str, blocks: list[int], sizes: list[int]) -> None:
    assert [stage.blocks for stage in scaled(scale)] == blocks
    assert [stage.size for stage in scaled(scale)] == sizes


@pytest.mark.parametrize(
    ("scale", "stride", "size", "cells"),
    [("lite0", 32, 1280, 7), ("lite0", 16, 112, 14), ("lite2", 32, 1280, 7), ("lite2", 16, 120, 14)],
)
def test_sizes(scale: str, stride: int, size: int, cells: int) -> None:
    with torch.device("meta"):
        encoder = EfficientNetLite(stride, scale)
        source = Pictures(torch.zeros(1, 3, 224, 224), torch.tensor([[224, 224]], device="cpu"))
    assert (encoder.size, encoder.stride) == (size, stride)
    plane: Any = Plane(source.data, source.sizes, None)
    for layer in (encoder.stem, *encoder.blocks, *([encoder.head] if encoder.head else [])):
        plane = layer(plane)
    assert plane.data.shape == (1, size, cells, cells)
    assert plane.sizes.tolist() == [[cells, cells]]
    assert list(encoder.buffers()) == []


@pytest.mark.parametrize("stride", [16, 32])
def test_padding_changes_nothing(stride: int) -> None:
    with torch.no_grad():
        check_alone_is_together(randomised(EfficientNetLite(stride)), pictures(3, [(33, 50), (64, 17), (1, 1)]))


@pytest.mark.parametrize(("scale", "fifth"), [("lite0", 10), ("lite2", 14)])
def test_it_is_the_network_whose_weights_it_takes(scale: str, fifth: int) -> None:
    """All its layers, against the package that the names of the weights are from; `fifth` is the fifth stage's end."""
    make = pytest.importorskip("efficientnet_lite_pytorch").EfficientNet.from_name
    theirs = make(f"efficientnet-{scale}", image_size=224)  # which makes its padding that of even maps
    torch.manual_seed(0)
    for module in theirs.modules():
        if isinstance(module, nn.BatchNorm2d):
            drawn(module)
    theirs = theirs.double().eval()
    data = torch.randn(1, 3, 96, 64, dtype=torch.float64)
    last = EfficientNetLite(scale=scale).double()
    last.take(theirs.state_dict())
    middle = EfficientNetLite(16, scale).double()
    middle.take(theirs.state_dict())
    kept: list[Tensor] = []
    theirs._blocks[fifth].register_forward_hook(lambda module, inputs, output: kept.append(output))
    source = Pictures(data, torch.tensor([[96, 64]]))
    with torch.no_grad():
        torch.testing.assert_close(last.map(source).data, theirs.extract_features(data), atol=1e-9, rtol=0)
        torch.testing.assert_close(middle.map(source).data, kept[0], atol=1e-9, rtol=0)


def test_it_can_be_tuned() -> None:
    encoder = EfficientNetLite(16)
    encoder(together([one.float() for one in pictures(3)])).values.square().sum().backward()
    assert all(weight.grad is not None for weight in encoder.parameters())
