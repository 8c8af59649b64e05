"""Both softmaxes of one matrix, against loops; padding neither reads nor is read."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention.both import both_ways
from tests.tiny import softmax

B, P, H = 3, 5, 7
FIRST, SECOND = torch.tensor([5, 2, 3]), torch.tensor([4, 7, 1])  # lengths


def energies() -> Tensor:
    return torch.randn(B, P, H, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def mask(lengths: Tensor, width: int) -> Tensor:
    return torch.arange(width) < lengths[:, None]


def test_equals_two_loops() -> None:
    energy = energies()
    weights = both_ways(energy, mask(FIRST, P), mask(SECOND, H))
    assert weights.over_first.shape == (B, H, P)
    assert weights.over_second.shape == (B, P, H)
    for row, (p, h) in enumerate(zip(FIRST.tolist(), SECOND.tolist(), strict=True)):
        e = energy[row, :p, :h].numpy()
        over_first, over_second = np.zeros((H, P)), np.zeros((P, H))
        for j in range(h):
            over_first[j, :p] = softmax(e[:, j])
        for i in range(p):
            over_second[i, :h] = softmax(e[i])
        np.testing.assert_allclose(weights.over_first[row].numpy(), over_first, atol=1e-12)
        np.testing.assert_allclose(weights.over_second[row].numpy(), over_second, atol=1e-12)


def test_padding_neither_reads_nor_is_read() -> None:
    first, second = mask(FIRST, P), mask(SECOND, H)
    weights = both_ways(energies(), first, second)
    torch.testing.assert_close(weights.over_first.sum(-1), second.double())
    torch.testing.assert_close(weights.over_second.sum(-1), first.double())
    assert not weights.over_first.transpose(1, 2)[~first].any()
    assert not weights.over_second.transpose(1, 2)[~second].any()


@pytest.mark.parametrize("filler", [0.0, 1e4, float("nan")])
def test_what_stands_in_the_padding_does_not_matter(filler: float) -> None:
    energy = energies()
    tight = both_ways(energy[:, :, :4], mask(FIRST, P), mask(SECOND.clamp(max=4), 4))
    wide = torch.full((B, P + 2, H + 3), filler, dtype=torch.float64)
    wide[:, :P, :4] = energy[:, :, :4]
    wider = both_ways(wide, mask(FIRST, P + 2), mask(SECOND.clamp(max=4), H + 3))
    torch.testing.assert_close(wider.over_first[:, :4, :P], tight.over_first)
    torch.testing.assert_close(wider.over_second[:, :P, :4], tight.over_second)


def test_the_first_and_the_second_can_change_places() -> None:
    energy, first, second = energies(), mask(FIRST, P), mask(SECOND, H)
    one, other = both_ways(energy, first, second), both_ways(energy.transpose(1, 2), second, first)
    assert torch.equal(one.over_first, other.over_second)
    assert torch.equal(one.over_second, other.over_first)


def test_gradient() -> None:
    energy = energies().requires_grad_()
    assert gradcheck(lambda e: tuple(both_ways(e, mask(FIRST, P), mask(SECOND, H))), (energy,), fast_mode=True)
