"""The densely connected network: its sizes, its connections, and that padding stays outside."""

import pytest
import torch

from regard.dropout import Dropout
from regard.encoders.dense import Bottleneck, DenseEncoder, Transition
from regard.encoders.plane import Plane
from tests.encoders.plane_laws import check_alone_is_together, pictures, randomised, together


def test_padding_changes_nothing() -> None:
    encoder = randomised(DenseEncoder(1, growth=4, depth=2))
    check_alone_is_together(encoder, pictures(1, [(33, 70), (64, 17), (1, 1), (48, 49)]))


@pytest.mark.parametrize(("growth", "depth", "size"), [(24, 16, 684), (4, 2, 16), (6, 3, 34)])
def test_sizes(growth: int, depth: int, size: int) -> None:
    """((2k + dk) / 2 + dk) / 2 + dk, where halves are rounded down"""
    with torch.device("meta"):
        encoder = DenseEncoder(1, growth, depth)
    assert encoder.size == size
    assert len([one for one in encoder.blocks if isinstance(one, Bottleneck)]) == 3 * depth
    assert len([one for one in encoder.blocks if isinstance(one, Transition)]) == 2
    assert list(encoder.buffers()) == []


def test_a_block_keeps_what_it_read_and_adds_to_it() -> None:
    block = randomised(Bottleneck(3, 2, Dropout(0.0)))
    plane = Plane.begin(together(pictures(3)))
    made = block(plane)
    assert made.data.shape[1] == 5
    assert made.data[:, :3].equal(plane.data)
    torch.testing.assert_close(made.data[:, 3:], block.look(block.narrow(plane)).data, atol=0, rtol=0)


def test_a_transition_halves_channels_and_sides() -> None:
    made = randomised(Transition(6, Dropout(0.0)))(Plane.begin(together(pictures(6))))
    assert made.data.shape[1] == 3
    assert made.sizes.tolist() == [[7, 15], [19, 4], [1, 1], [11, 17]]


def test_dropout_leaves_padding_alone() -> None:
    torch.manual_seed(0)
    encoder = DenseEncoder(1, 4, 2, Dropout(0.5)).double()
    source = together(pictures(1))
    some, others = encoder(source).values, encoder(source).values
    assert not some.equal(others)
    assert (some[~encoder(source).mask] == 0).all()
    assert encoder.eval()(source).values.equal(encoder(source).values)
