"""Convolutions read each picture as if it were alone, whatever halves it."""

import numpy as np
import pytest
import torch

from regard.data.planes import Pictures
from regard.dropout import Dropout
from regard.encoders.convolution import SMALL, VGG16, ConvolutionEncoder
from tests.encoders.plane_laws import check_alone_is_together, pictures, randomised, together
from tests.tiny import arrays

STAGES = ((3,), (5, 7), (11,))


@pytest.mark.parametrize("strides", [False, True])
def test_padding_changes_nothing(strides: bool) -> None:
    encoder = randomised(ConvolutionEncoder(2, STAGES, strides))
    assert (encoder.size, encoder.stride) == (11, 4)
    check_alone_is_together(encoder, pictures(2))


@pytest.mark.parametrize("norm", ["channels", "places"])
def test_a_first_layer_halves_before_all_stages(norm: str) -> None:
    encoder = randomised(ConvolutionEncoder(2, STAGES, norm=norm, first=4))
    assert (encoder.size, encoder.stride) == (11, 8)
    check_alone_is_together(encoder, pictures(2))


@pytest.mark.parametrize("strides", [False, True])
def test_it_is_its_equation(strides: bool) -> None:
    """Two layers as loops over cells."""
    encoder, (one,) = randomised(ConvolutionEncoder(2, ((3,), (4,)), strides)), pictures(2, [(5, 6)])
    x = one.numpy()
    for number, (W, g, b) in enumerate(zip(*[arrays(encoder)] * 3, strict=True)):
        if number > 0 and not strides:
            edges = np.pad(x, ((0, 0), (0, 1), (0, 0)))  # to whole windows; nothing is below zero
            x = edges.reshape(3, 3, 2, 3, 2).max((2, 4))
        stride = 2 if number > 0 and strides else 1
        around = np.pad(x, ((0, 0), (1, 1), (1, 1)))
        made = np.zeros((len(W), -(-x.shape[1] // stride), -(-x.shape[2] // stride)))
        for i, j in np.ndindex(made.shape[1:]):
            z = (W * around[:, stride * i : stride * i + 3, stride * j : stride * j + 3]).sum((1, 2, 3))
            made[:, i, j] = np.maximum(0, g * (z - z.mean()) / np.sqrt(z.var() + 1e-5) + b)
        x = made
    np.testing.assert_allclose(encoder.map(together([one])).data[0].detach(), x, atol=1e-9)


def test_vgg_makes_14_by_14_of_224() -> None:
    with torch.device("meta"):
        encoder = ConvolutionEncoder(3, VGG16)
    assert (encoder.size, encoder.stride, 224 // encoder.stride) == (512, 16, 14)
    convolutions = [layer for stage in encoder.stages for layer in stage]
    assert len(convolutions) == 13
    assert (
        sum(layer.W.weight.numel() for layer in convolutions) == 14_710_464
    )  # VGG-16 below its dense layers, no biases


def test_the_small_one_has_parameters_only() -> None:
    encoder = ConvolutionEncoder(1, SMALL)
    assert encoder(Pictures(torch.randn(2, 1, 16, 20), torch.tensor([[16, 20], [9, 3]]))).values.shape == (2, 20, 128)
    assert list(encoder.buffers()) == []


def test_dropout_is_on_the_map() -> None:
    encoder = ConvolutionEncoder(2, STAGES, dropout=Dropout(0.5))
    source = together(pictures(2)).data.float(), together(pictures(2)).sizes
    whole = encoder.eval()(Pictures(*source)).values
    some = encoder.train()(Pictures(*source)).values
    kept = some != 0
    assert 0.3 < kept.sum() / (whole != 0).sum() < 0.7
    torch.testing.assert_close(some[kept], 2 * whole[kept])
