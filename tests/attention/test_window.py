"""The local window against a loop over its equation; it never shuts out every place."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck

from regard.attention import AdditiveScore, Attention, DotScore, Encoded, LocalWindow
from regard.errors import UsageError

B, S, T, Q, V, A = 2, 13, 5, 7, 11, 3
MASK = torch.arange(S) < torch.tensor([13, 6])[:, None]


def make(reach: float) -> tuple[LocalWindow, Tensor]:
    torch.manual_seed(0)
    window = LocalWindow(Q, A, reach).double()
    nn.init.normal_(window.v.weight, std=3)  # places from end to end
    return window, torch.randn(B, T, Q).double()


@pytest.mark.parametrize("reach", [1, 2.5, 4])
def test_equals_a_loop_over_its_equation(reach: float) -> None:
    window, query = make(reach)
    bias, readable = window(query, MASK)
    assert bias.shape == readable.shape == (B, T, S)
    for b in range(B):
        length = int(MASK[b].sum())
        for t in range(T):
            v, W = window.v.weight[0].detach(), window.W.weight.detach()
            centre = length / (1 + math.exp(-float(v @ torch.tanh(W @ query[b, t]))))
            for j in range(1, length + 1):
                expected = -((j - centre) ** 2) / (2 * (reach / 2) ** 2)
                assert bias[b, t, j - 1].item() == pytest.approx(expected, abs=1e-9)
                assert bool(readable[b, t, j - 1]) == (abs(j - centre) <= reach)


def test_padding_is_never_readable_and_its_amount_changes_nothing() -> None:
    window, query = make(2)
    bias, readable = window(query, MASK)
    assert not (readable & ~MASK[:, None]).any()
    short, readable_short = window(query[1:], MASK[1:, :6])
    torch.testing.assert_close(bias[1, :, :6], short[0], atol=1e-12, rtol=0)
    assert torch.equal(readable[1, :, :6], readable_short[0])


@pytest.mark.parametrize("pull", [-1e3, 0.0, 1e3])
def test_the_nearest_place_can_always_be_read(pull: float) -> None:
    window = LocalWindow(1, 1, 0.01)
    nn.init.ones_(window.W.weight)
    nn.init.constant_(window.v.weight, pull)
    readable = window(torch.ones(B, T, 1), MASK).readable
    assert (readable.sum(-1) >= 1).all()
    if pull > 0:  # p_t = S: the last real place
        assert readable.long().argmax(-1).tolist() == [[12] * T, [5] * T]
    if pull < 0:  # p_t = 0: the first
        assert readable.long().argmax(-1).tolist() == [[0] * T, [0] * T]


def test_nothing_to_read_stays_so() -> None:
    window, query = make(2)
    bias, readable = window(query, torch.zeros(B, S, dtype=torch.bool))
    assert bias.isfinite().all()
    assert not readable.any()


def test_the_gradient_moves_the_window() -> None:
    window, query = make(3)
    query = query.requires_grad_()
    assert gradcheck(lambda q: window(q, MASK).bias, (query,), fast_mode=True)


def test_weights_sum_to_one_within_reach() -> None:
    window, query = make(2)
    attention = Attention(AdditiveScore(Q, V, A).double(), V, window=window)
    memory = attention.remember(Encoded(torch.randn(B, S, V).double(), MASK, torch.randn(B, V).double()))
    weights, readable = attention(query, memory).weights, window(query, MASK).readable
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T).double())
    assert (weights[~readable] == 0).all()
    assert (weights[readable] > 0).all()


def test_among_equal_energies_the_weights_are_a_gaussian() -> None:
    window = LocalWindow(V, A, 4.0)
    nn.init.zeros_(window.v.weight)  # p_t = S/2
    attention = Attention(DotScore(V, V, A), V, window=window)
    mask = torch.ones(1, 4, dtype=torch.bool)
    memory = attention.remember(Encoded(torch.zeros(1, 4, V), mask, torch.zeros(1, V)))
    weights = attention(torch.randn(1, 1, V), memory).weights[0, 0]
    torch.testing.assert_close(weights, torch.tensor([-1 / 8, 0, -1 / 8, -4 / 8]).softmax(-1))


def test_far_places_are_told_apart_in_bf16() -> None:
    window = LocalWindow(Q, A, 1.0).bfloat16()
    nn.init.zeros_(window.v.weight)
    bias, readable = window(torch.zeros(1, 1, Q).bfloat16(), torch.ones(1, 1000, dtype=torch.bool))
    assert bias.dtype == torch.bfloat16
    assert readable[0, 0].nonzero()[:, 0].tolist() == [498, 499, 500]  # j = 499, 500, 501


@pytest.mark.parametrize("reach", [0, -1])
def test_the_reach_must_be_positive(reach: float) -> None:
    with pytest.raises(UsageError, match="greater than 0"):
        LocalWindow(Q, A, reach)
