"""Dropout keeps the mean; variational masks last for a sequence; nothing happens when not training."""

import pytest
import torch
from torch import Tensor

from regard.dropout import Dropout, Noise

B, T, D = 101, 7, 103
both = pytest.mark.parametrize("variational", [False, True])


def dropped(variational: bool) -> Tensor:
    torch.manual_seed(0)
    return Dropout(0.3, variational)(torch.ones(B, T, D))


@both
def test_the_mean_stays(variational: bool) -> None:
    found = dropped(variational)
    zero = found == 0
    assert abs(zero.double().mean() - 0.3) < 0.01
    assert torch.equal(found[~zero], torch.full_like(found[~zero], 1 / 0.7))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_numbers_are_dropped_one_by_one(share: float) -> None:
    """Each as often as the next and whatever its neighbours do, also those that come out of one draw."""
    torch.manual_seed(0)
    zero = Dropout(share)(torch.ones(20_000, 9)) == 0  # no multiple of four
    assert (zero.double().mean(0) - share).abs().max() < 0.015
    together = torch.corrcoef(zero.double().t()) - torch.eye(9)
    assert together.abs().max() < 0.03


@both
def test_a_variational_mask_lasts_for_a_sequence(variational: bool) -> None:
    found = dropped(variational)
    same_at_all_places = (found == found[:, :1]).all()
    assert same_at_all_places == variational
    assert (found[0] != found[1]).any()  # each sequence has its own
    assert (found[:, :, 0] != found[:, :, 1]).any()  # and each number


@both
def test_numbers_are_scaled_not_replaced(variational: bool) -> None:
    vectors = torch.randn(B, T, D)
    found = Dropout(0.3, variational)(vectors)
    kept = found != 0
    torch.testing.assert_close(found[kept], vectors[kept] / 0.7)


@both
def test_off_when_not_training(variational: bool) -> None:
    vectors = torch.randn(B, T, D)
    dropout = Dropout(0.5, variational)
    assert not torch.equal(dropout(vectors), vectors)
    assert torch.equal(dropout.eval()(vectors), vectors)
    assert torch.equal(Dropout(0.0, variational)(vectors), vectors)


def test_a_given_mask_is_used_at_every_step() -> None:
    dropout, vectors = Dropout(0.5, True), torch.randn(B, T, D)
    mask = dropout.noise(torch.empty(B, D), 1, 5, 3).states[0]
    assert mask is not None
    at_once = dropout(vectors, mask)
    assert torch.equal(at_once, torch.stack([dropout(vector, mask) for vector in vectors.unbind(1)], 1))
    assert torch.equal(at_once, vectors * mask[:, None])


def test_noise_has_a_mask_of_its_own_for_each_part() -> None:
    torch.manual_seed(0)
    noise = Dropout(0.3, True).noise(torch.empty(B, D), 2, 53, 59)
    masks = [noise.word, *noise.states, *noise.inputs, noise.readout]
    assert [mask.shape for mask in masks if mask is not None] == [(B, 53), *[(B, D)] * 4, (B, 59)]
    for mask in masks:
        assert mask is not None
        assert abs((mask == 0).double().mean() - 0.3) < 0.03
    four = [mask for mask in (*noise.states, *noise.inputs) if mask is not None]
    assert all((one != other).any() for one in four for other in four if one is not other)


@pytest.mark.parametrize("dropout", [Dropout(0.3), Dropout(0.3, True).eval(), Dropout(0.0, True)])
def test_there_is_no_noise_unless_variational_and_training(dropout: Dropout) -> None:
    assert dropout.noise(torch.empty(B, D), 2, 53, 59) == Noise(None, (None, None), (None, None), None)
