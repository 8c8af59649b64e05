"""Pictures bent while they are learnt from: by the equation, within their edges, and never when answering."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.data.planes import Pictures
from regard.encoders.bending import BentEncoder, bend, draw
from regard.encoders.convolution import ConvolutionEncoder
from regard.encoders.pretrained import load_pretrained
from regard.errors import UsageError
from regard.recipe import Look, Model
from regard.tasks.optics import begin_trained, make_clip_eye, make_picture_encoder, make_picture_eye
from tests.encoders.plane_laws import pictures, randomised, together


def test_it_is_its_equation() -> None:
    """Between four pixels in proportion, as loops."""
    every = pictures(1, [(5, 7), (4, 3)])
    bent = torch.tensor([[[1.1, -0.05], [0.2, 1.15]], [[1.0, 0.04], [-0.3, 1.3]]], dtype=torch.float64)
    source = together(every, more=2)
    made = bend(source, bent).data.numpy()
    for row, one in enumerate(every):
        x, (height, width) = one[0].numpy(), one.shape[1:]
        middle = (np.array([height, width]) - 1) / 2
        for p in np.ndindex(made.shape[2:]):
            expected = 0.0
            if p[0] < height and p[1] < width:
                at = middle + bent[row].numpy() @ (np.array(p) - middle)
                for i, j in np.ndindex(height, width):
                    expected += x[i, j] * np.prod(np.maximum(0, 1 - np.abs(at - np.array([i, j]))))
            np.testing.assert_allclose(made[row, 0, p[0], p[1]], expected, atol=1e-9)


def test_nothing_bent_is_nothing_changed() -> None:
    source = together(pictures(2), more=3)
    still = torch.eye(2, dtype=torch.float64).expand(4, 2, 2)
    torch.testing.assert_close(bend(source, still).data, source.data, atol=1e-9, rtol=0)


def test_draws_stay_within_bounds() -> None:
    torch.manual_seed(1)
    bent = draw(4000, 0.2) - torch.eye(2)
    assert bent[:, 0, 0].min() >= 0  # ink becomes smaller, never larger than the picture
    assert bent[:, 1, 1].min() >= 0
    for entry, most in zip(bent.flatten(1).unbind(1), (0.2, 0.05, 0.2, 0.2), strict=True):
        assert 0.99 * most < entry.abs().max() <= most
    assert (bent[:, 1, 0] < 0).any()
    assert (bent[:, 1, 0] > 0).any()


def test_only_while_it_learns() -> None:
    inner = ConvolutionEncoder(1, ((3,), (5,)), norm="places")
    encoder, source = randomised(BentEncoder(inner, 0.3)), together(pictures(1, [(9, 12)]))
    assert encoder(source).values.equal(inner(source).values)
    encoder.train()
    torch.manual_seed(3)
    first = encoder(source).values
    assert not first.equal(encoder(source).values)
    torch.manual_seed(3)
    assert encoder(source).values.equal(first)  # a resumed run bends as the other would have
    assert encoder(source).mask.equal(inner(source).mask)


def test_batch_mates_change_nothing() -> None:
    every, bent = pictures(1), draw(4, 0.3).double()
    made = bend(together(every, more=4), bent).data
    for row, one in enumerate(every):
        alone = bend(Pictures(one[None], torch.tensor([one.shape[1:]])), bent[row : row + 1]).data[0]
        torch.testing.assert_close(made[row, :, : one.size(1), : one.size(2)], alone, atol=1e-9, rtol=0)
        assert made[row, :, one.size(1) :].eq(0).all()
        assert made[row, :, :, one.size(2) :].eq(0).all()


def test_an_encoder_that_learns_is_bent() -> None:
    look = Look(encoder="small", stages=(4, 4), channels=1, bend=0.2, first=3)
    encoder = make_picture_encoder(look, Model())
    assert isinstance(encoder, BentEncoder)
    assert encoder.most == 0.2
    assert (encoder.size, encoder.stride) == (4, 4)
    assert make_picture_eye(look).stride == 4


def test_it_is_refused_where_it_does_nothing() -> None:
    with pytest.raises(UsageError, match=r"set look\.freeze=false"):
        make_picture_eye(Look(encoder="efficientnet-lite0", freeze=True, bend=0.1))
    with pytest.raises(UsageError, match="every frame"):
        make_clip_eye(Look(bend=0.1))


@pytest.mark.parametrize("columns", [False, True])
def test_a_trained_network_begins_with_its_weights(columns: bool) -> None:
    look = Look(encoder="efficientnet-lite0", freeze=False, fit="height", size=32, columns=columns, bend=0.1)
    encoder: Any = make_picture_encoder(look, Model(hidden=8))
    begin_trained(encoder, look)
    bent = encoder.plane if columns else encoder
    assert isinstance(bent, BentEncoder)
    wanted = load_pretrained("efficientnet-lite0").state_dict()
    assert all(weight.equal(wanted[name]) for name, weight in bent.plane.state_dict().items())
