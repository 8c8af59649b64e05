"""Mixtures of writing and copying, against a loop over places."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention.pointer import mix, mixed, pointed, sentinel_gate
from regard.attention.softmax import masked_softmax

B, N, S, X = 5, 7, 11, 3
LENGTHS = torch.tensor([11, 1, 4, 7, 2])


def drawn(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """log p (B, N), α (B, S), x (B, S) with PAD on padding, log odds (B,); some lack a number beyond."""
    torch.manual_seed(seed)
    mask = torch.arange(S) < LENGTHS[:, None]
    weights = masked_softmax(torch.randn(B, S).double() * 3, mask)
    numbers = torch.randint(4, N + X, (B, S)) * mask
    return torch.randn(B, N).double().log_softmax(-1), weights, numbers, torch.randn(B).double() * 2


def test_equals_a_loop_over_places() -> None:
    log_probs, weights, numbers, gate = drawn()
    expected = np.zeros((B, N + X))
    for b in range(B):
        g = 1 / (1 + math.exp(-gate[b]))
        expected[b, :N] = g * np.exp(log_probs[b].numpy())
        for j in range(int(LENGTHS[b])):
            expected[b, numbers[b, j]] += (1 - g) * weights[b, j].item()
    found = mix(log_probs, weights, numbers, gate, X)
    np.testing.assert_allclose(found.exp(), expected, atol=1e-14)
    assert (found == -torch.inf).any()  # some example lacks a number beyond the vocabulary
    assert (found[:, N:] > -torch.inf).any()


@pytest.mark.parametrize("odds", [-1e3, -60.0, 0.0, 60.0, 1e3])
def test_sums_to_one_whatever_the_gate(odds: float) -> None:
    log_probs, weights, numbers, _ = drawn(1)
    found = mix(log_probs, weights, numbers, torch.full((B,), odds).double(), X)
    torch.testing.assert_close(found.logsumexp(-1), torch.zeros(B).double(), atol=1e-12, rtol=0)


def test_small_shares_are_not_lost() -> None:
    """σ(−60) is 0 beside 1 in single precision; its logarithm is not."""
    found = mix(torch.tensor([0.5, 0.5]).log(), torch.tensor([1.0]), torch.tensor([2]), torch.tensor(60.0), 1)
    assert found[2].item() == pytest.approx(-60, abs=1e-5)
    assert found[:2].exp().sum().item() == pytest.approx(1)


def test_padding_gets_nothing() -> None:
    """Neither longer padding nor the number that stands there changes anything."""
    log_probs, weights, numbers, gate = drawn(2)
    plain = mix(log_probs, weights, numbers, gate, X)
    longer = torch.cat([weights, torch.zeros(B, 2)], -1)
    for filler in (0, 5):
        more = torch.cat([numbers, torch.full((B, 2), filler)], -1)
        torch.testing.assert_close(mix(log_probs, longer, more, gate, X), plain, atol=0, rtol=0)


def test_more_room_beyond_changes_nothing() -> None:
    log_probs, weights, numbers, gate = drawn(3)
    wider = mix(log_probs, weights, numbers, gate, X + 2)
    torch.testing.assert_close(wider[:, :-2], mix(log_probs, weights, numbers, gate, X), atol=0, rtol=0)
    assert (wider[:, -2:] == -torch.inf).all()


def test_an_open_gate_writes_and_a_shut_gate_copies() -> None:
    log_probs, weights, numbers, _ = drawn(4)
    open_gate, shut_gate = torch.full((B,), 800.0).double(), torch.full((B,), -800.0).double()
    torch.testing.assert_close(mix(log_probs, weights, numbers, open_gate, X)[:, :N], log_probs)
    copies = torch.zeros(B, N + X).double().scatter_add(1, numbers, weights)
    torch.testing.assert_close(mix(log_probs, weights, numbers, shut_gate, X).exp(), copies)


def test_gradients_by_differences() -> None:
    log_probs, weights, numbers, gate = (one.detach() for one in drawn(5))
    inputs = [one.requires_grad_() for one in (log_probs, weights.clamp(min=1e-3), gate)]

    def likely(log_probs: Tensor, weights: Tensor, gate: Tensor) -> Tensor:
        found = mix(log_probs, weights, numbers, gate, X)
        return found[found > -torch.inf]

    assert torch.autograd.gradcheck(likely, inputs)


def test_gradients_stay_finite_where_nothing_is_pointed_at() -> None:
    """Weights rounded to zero, on padding and on the only place of a symbol beyond the vocabulary."""
    log_probs = torch.tensor([[0.1, 0.9]]).log().requires_grad_()
    weights = torch.tensor([[1.0, 0.0, 0.0]]).requires_grad_()
    gate = torch.tensor([0.3]).requires_grad_()
    found = mix(log_probs, weights, torch.tensor([[1, 2, 0]]), gate, 2)
    assert found.isfinite().tolist() == [[True, True, True, False]]
    found[found.isfinite()].sum().backward()
    for one in (log_probs, weights, gate):
        assert one.grad is not None
        assert one.grad.isfinite().all()


def test_some_symbols_alone_have_the_same_probability() -> None:
    log_probs, weights, numbers, gate = drawn(6)
    every = mix(log_probs, weights, numbers, gate, X)[:, :N]
    symbols = torch.arange(N).expand(B, N)
    alone = pointed(weights[:, None].expand(-1, N, -1), numbers, symbols)
    torch.testing.assert_close(mixed(log_probs, alone, gate[:, None]), every, atol=1e-14, rtol=0)


def test_the_sentinel_is_one_more_place_of_the_softmax() -> None:
    torch.manual_seed(7)
    energy, sentinel = torch.randn(B, S).double() * 3, torch.randn(B).double()
    mask = torch.arange(S) < LENGTHS[:, None]
    gate, weights = sentinel_gate(sentinel, energy, mask), masked_softmax(energy, mask)
    for b in range(B):
        real = np.exp(energy[b, : LENGTHS[b]].numpy())
        whole = real.sum() + math.exp(sentinel[b])
        assert gate[b].sigmoid().item() == pytest.approx(math.exp(sentinel[b]) / whole, abs=1e-14)
        shares = (1 - gate[b].sigmoid()) * weights[b, : LENGTHS[b]]
        np.testing.assert_allclose(shares, real / whole, atol=1e-14)


def test_with_nothing_to_point_at_the_sentinel_takes_all() -> None:
    energy, sentinel = torch.zeros(2, 3, requires_grad=True), torch.zeros(2, requires_grad=True)
    mask = torch.zeros(2, 3, dtype=torch.bool)
    log_probs = torch.randn(2, N).log_softmax(-1)
    gate = sentinel_gate(sentinel, energy, mask)
    found = mix(log_probs, masked_softmax(energy, mask), torch.zeros(2, 3, dtype=torch.long), gate)
    torch.testing.assert_close(found, log_probs)
    found.sum().backward()
    assert energy.grad is not None
    assert sentinel.grad is not None
    assert energy.grad.isfinite().all()
    assert sentinel.grad.isfinite().all()
