"""Global fertility: a density as scipy knows it, over the real places only, that moves where attention looks."""

import pytest
import torch
from scipy.stats import norm
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention import Encoded
from regard.data.vocabulary import END, PAD
from regard.decoders.fertility import LEAST, Fertility, fertilities, surprise
from regard.losses import Loss, Wanted

B, T, S, V = 2, 5, 7, 11
TARGETS = torch.tensor([[4, 5, 6, 4, END], [7, 8, END, PAD, PAD]])
MASK = torch.arange(S) < torch.tensor([7, 3])[:, None]
NOTHING = Loss(torch.zeros(()).double(), torch.zeros(()), torch.tensor(1))


def example() -> tuple[Fertility, Encoded, Tensor]:
    torch.manual_seed(0)
    weights = torch.rand(B, T, S).double() * MASK[:, None]  # (B, T, S)
    encoded = Encoded(torch.randn(B, S, V).double(), MASK, torch.randn(B, V).double())
    return Fertility(V, 13, 0.5).double(), encoded, weights / weights.sum(-1, keepdim=True)


def price(aside: Fertility, encoded: Encoded, weights: Tensor, targets: Tensor = TARGETS) -> Tensor:
    return aside.join(NOTHING, encoded, weights, Wanted(targets, 0.0)).total


def test_equals_a_loop_over_scipys_density() -> None:
    aside, encoded, weights = example()
    mean, deviation = (one.detach().numpy() for one in aside(encoded.values))
    expected = 0.0
    for b, (steps, places) in enumerate(((4, 7), (2, 3))):  # END writes no word
        for j in range(places):
            found = sum(float(weights[b, t, j]) for t in range(steps))
            expected -= norm.logpdf(found, mean[b, j], deviation[b, j])
    assert price(aside, encoded, weights).item() == pytest.approx(0.5 * expected)


def test_mean_and_deviation_are_positive_and_their_own() -> None:
    aside, encoded, _ = example()
    mean, deviation = aside(100 * encoded.values)
    assert mean.shape == deviation.shape == (B, S)
    assert (mean > 0).all()
    assert (deviation > LEAST).all()
    assert not torch.allclose(mean, deviation - LEAST)


def test_padding_and_end_count_for_nothing() -> None:
    aside, encoded, weights = example()
    expected = price(aside, encoded, weights)
    dirty = weights + 3.0 * (TARGETS <= END)[:, :, None]
    values = torch.where(MASK[:, :, None], encoded.values, 9.0)
    torch.testing.assert_close(price(aside, encoded._replace(values=values), dirty), expected)
    alone = [
        price(
            aside,
            Encoded(encoded.values[b : b + 1, :places], MASK[b : b + 1, :places], encoded.summary[b : b + 1]),
            weights[b : b + 1, :steps, :places],
            TARGETS[b : b + 1, :steps],
        )
        for b, (steps, places) in enumerate(((5, 7), (3, 3)))
    ]
    torch.testing.assert_close(sum(alone), expected)


def test_gradients() -> None:
    aside, encoded, weights = example()
    values, weights = encoded.values.requires_grad_(), weights.requires_grad_()
    assert gradcheck(lambda v, w: price(aside, encoded._replace(values=v), w), (values, weights), fast_mode=True)
    price(aside, encoded, weights).backward()
    for weight in aside.parameters():
        assert weight.grad is not None
        assert (weight.grad != 0).any()
    assert weights.grad is not None
    assert (weights.grad[0, :4] != 0).all()


def test_least_at_the_mean() -> None:
    mean, deviation = torch.tensor([1.3]), torch.tensor([0.4])
    assert surprise(mean, mean, deviation) < surprise(mean + 0.1, mean, deviation)
    assert surprise(mean, mean, deviation) < surprise(mean - 0.1, mean, deviation)


def test_it_pulls_what_is_read_towards_the_mean() -> None:
    """Energies alone learn: with the density held still, each place comes to be read as much as it says."""
    aside, encoded, _ = example()
    energy = torch.randn(B, T, S).double().masked_fill(~MASK[:, None], -torch.inf).requires_grad_()
    words = TARGETS > END
    mean = aside(encoded.values)[0].detach()
    wanted = mean * words.sum(1, keepdim=True) / (mean * MASK).sum(1, keepdim=True)  # what sums to T can be reached

    def distance() -> float:
        found = fertilities(energy.detach().softmax(-1), words)
        return float(((found - wanted) * MASK).abs().sum())

    rule, before = torch.optim.Adam([energy], lr=0.1), distance()
    for _ in range(60):
        rule.zero_grad()
        price(aside, encoded, energy.softmax(-1)).backward()
        rule.step()
    assert distance() < before
