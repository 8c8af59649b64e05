"""The doubly stochastic penalty: its value by hand, over what is real only, and that it evens out where one looks."""

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention import Encoded
from regard.data.vocabulary import END, PAD
from regard.decoders.doubly import DoublyStochastic, unevenness
from regard.losses import Loss, Wanted
from tests.tiny import model, padded

B, T, S, V = 2, 5, 7, 3
TARGETS = torch.tensor([[4, 5, 6, 4, END], [7, 8, END, PAD, PAD]])
MASK = torch.arange(S) < torch.tensor([7, 3])[:, None]
ENCODED = Encoded(torch.zeros(B, S, V), MASK, torch.zeros(B, V))
BEFORE = Loss(torch.tensor(2.0).double(), torch.tensor(1.5), torch.tensor(8))


def some_weights() -> Tensor:
    torch.manual_seed(0)
    weights = torch.rand(B, T, S).double() * MASK[:, None]
    return weights / weights.sum(-1, keepdim=True)


def price(weights: Tensor, encoded: Encoded = ENCODED, targets: Tensor = TARGETS) -> Tensor:
    return DoublyStochastic(0.5).join(BEFORE, encoded, weights, Wanted(targets, 0.0)).total


def test_equals_a_loop() -> None:
    weights, expected = some_weights(), 0.0
    for b, (steps, places) in enumerate(((5, 7), (3, 3))):  # END's step counts
        for j in range(places):
            expected += (1 - sum(float(weights[b, t, j]) for t in range(steps))) ** 2
    assert price(weights).item() == pytest.approx(2 + 0.5 * expected)


def test_only_the_total_changes() -> None:
    found = DoublyStochastic(0.5).join(BEFORE, ENCODED, some_weights(), Wanted(TARGETS, 0.0))
    assert (found.nll, found.symbols) == (BEFORE.nll, BEFORE.symbols)


def test_each_place_once_costs_nothing_and_one_place_always_the_most() -> None:
    every = torch.ones(1, S, dtype=torch.bool)
    assert unevenness(torch.eye(S)[None], every, every) == 0
    stuck = torch.eye(S)[:1].expand(S, S)[None]
    assert unevenness(stuck, every, every) == (S - 1) ** 2 + (S - 1)
    uniform = torch.full((1, 3, S), 1 / S)  # T = 3: S (1 − T/S)²
    torch.testing.assert_close(unevenness(uniform, every[:, :3], every), torch.tensor(S * (1 - 3 / S) ** 2))


def test_padding_counts_for_nothing() -> None:
    weights = some_weights()
    expected = price(weights) - 2
    torch.testing.assert_close(price(weights + 3.0 * (TARGETS == PAD)[:, :, None]) - 2, expected)
    alone = [
        price(weights[b : b + 1, :t, :s], Encoded(*(one[b : b + 1, :s] for one in ENCODED[:3])), TARGETS[b : b + 1, :t])
        for b, (t, s) in enumerate(((5, 7), (3, 3)))
    ]
    torch.testing.assert_close(sum(alone) - 4, expected)


def test_gradient_by_hand() -> None:
    """∂/∂α_tj = −2 λ (1 − Σ_t' α_t'j) on what is real, and 0 elsewhere."""
    weights = some_weights().requires_grad_()
    assert gradcheck(price, (weights,), fast_mode=True)
    price(weights).backward()
    real = (TARGETS != PAD)[:, :, None] & MASK[:, None]
    sums = (weights.detach() * (TARGETS != PAD)[:, :, None]).sum(1, keepdim=True)
    torch.testing.assert_close(weights.grad, -2 * 0.5 * (1 - sums) * real)


def test_descent_evens_out_where_attention_looks() -> None:
    torch.manual_seed(0)
    energy, every = torch.randn(1, S, S).mul(3).requires_grad_(), torch.ones(1, S, dtype=torch.bool)
    rule, before = torch.optim.Adam([energy], lr=0.1), float(unevenness(energy.detach().softmax(-1), every, every))
    for _ in range(80):
        rule.zero_grad()
        unevenness(energy.softmax(-1), every, every).backward()
        rule.step()
    assert float(unevenness(energy.detach().softmax(-1), every, every)) < 0.01 * before


def test_beside_a_model_its_gradient_reaches_the_score() -> None:
    made, source = model(), padded([4, 5, 6, 7, 8], [9, 8])
    tokens, wanted = torch.tensor([[2, 4, 5], [2, 6, 0]]), Wanted(torch.tensor([[4, 5, END], [6, END, PAD]]), 0.0)
    plain = made(source, tokens, 0.0, wanted).total
    made.asides.append(DoublyStochastic(1.0))
    with_penalty = made(source, tokens, 0.0, wanted).total
    weights = made(source, tokens).weights
    torch.testing.assert_close(with_penalty - plain, unevenness(weights, wanted.targets != PAD, source.mask))
    (with_penalty - plain).backward()
    assert all((weight.grad.abs() > 1e-9).any() for weight in made.decoder.attention.score.parameters())
