"""The localization penalties: values that algebra gives, gradients that are there, and nothing from padding."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention import Encoded
from regard.data.vocabulary import END, PAD
from regard.decoders.localization import SPREADS, Localization, positions
from regard.losses import Loss, Wanted

HEIGHT, WIDTH = 3, 5
B, T, S, V = 2, 4, HEIGHT * WIDTH, 2
TARGETS = torch.tensor([[4, 5, 6, END], [7, END, PAD, PAD]])
PLACES = (15, 8)  # 3 × 5 and 2 × 4
MASK = torch.arange(S) < torch.tensor(PLACES)[:, None]
GRID = torch.zeros(B, S, 2, dtype=torch.long)
GRID[0] = torch.cartesian_prod(torch.arange(3), torch.arange(5))
GRID[1, :8] = torch.cartesian_prod(torch.arange(2), torch.arange(4))
PLANE = Encoded(torch.zeros(B, S, V), MASK, torch.zeros(B, V), grid=GRID)
ROW = PLANE._replace(grid=None)
NOTHING = Loss(torch.zeros(()).double(), torch.zeros(()), torch.tensor(6))

every_kind = pytest.mark.parametrize("kind", SPREADS)
both = pytest.mark.parametrize("encoded", [PLANE, ROW], ids=["plane", "row"])


def some_weights() -> Tensor:
    torch.manual_seed(0)
    weights = torch.rand(B, T, S).double() * MASK[:, None]
    return weights / weights.sum(-1, keepdim=True)


def price(
    kind: str, weights: Tensor, encoded: Encoded = PLANE, targets: Tensor = TARGETS, share: float = 1.0
) -> Tensor:
    return Localization(share, kind).join(NOTHING, encoded, weights, Wanted(targets, 0.0)).total


@both
@every_kind
def test_equals_a_loop(kind: str, encoded: Encoded) -> None:
    weights, expected = some_weights(), 0.0
    alpha = weights.numpy()
    for b, (steps, places) in enumerate(((4, 15), (2, 8))):
        at = GRID[b].numpy() if encoded.grid is not None else np.arange(1, S + 1)[:, None]
        for t in range(steps):
            if kind == "gini":
                expected += 1 - sum(alpha[b, t, j] ** 2 for j in range(places))
                continue
            middle = sum(alpha[b, t, j] * at[j] for j in range(places))
            expected += sum(alpha[b, t, j] * ((at[j] - middle) ** 2).sum() for j in range(places))
    assert price(kind, weights, encoded, share=0.25).item() == pytest.approx(0.25 * expected)


@both
@every_kind
def test_one_place_at_a_time_costs_nothing(kind: str, encoded: Encoded) -> None:
    looked = torch.eye(S).double()[torch.tensor([[0, 3, 14, 7], [2, 7, 0, 1]])]  # (B, T, S)
    assert price(kind, looked, encoded) == 0


def test_uniform_weights_cost_what_algebra_says() -> None:
    """Of n places in a row the variance is (n² − 1) / 12; of a plane, that of its rows and that of its columns."""
    uniform = (MASK / MASK.sum(1, keepdim=True))[:, None].double().expand(B, T, S)

    def along(n: int) -> float:
        return (n * n - 1) / 12

    assert price("variance", uniform).item() == pytest.approx(4 * (along(3) + along(5)) + 2 * (along(2) + along(4)))
    assert price("variance", uniform, ROW).item() == pytest.approx(4 * along(15) + 2 * along(8))
    assert price("gini", uniform).item() == pytest.approx(4 * (1 - 1 / 15) + 2 * (1 - 1 / 8))


def test_neighbours_cost_less_than_places_far_apart() -> None:
    """Half and half: (d/2)² at a distance of d, also across rows; gini cannot tell."""
    halves = torch.zeros(3, 1, 1, S).double()
    for number, other in enumerate((1, 5, 4)):  # beside, below, at the row's other end
        halves[number, 0, 0, [0, other]] = 0.5
    first, target = Encoded(*(one[:1] for one in PLANE[:3]), grid=GRID[:1]), TARGETS[:1, :1]
    assert [price("variance", one, first, target).item() for one in halves] == [0.25, 0.25, 4.0]
    assert [price("gini", one, first, target).item() for one in halves] == [0.5, 0.5, 0.5]


@both
@every_kind
def test_padding_counts_for_nothing(kind: str, encoded: Encoded) -> None:
    weights = some_weights()
    expected = price(kind, weights, encoded)
    torch.testing.assert_close(price(kind, weights + 3.0 * (TARGETS == PAD)[:, :, None], encoded), expected)
    if encoded.grid is not None:
        torch.testing.assert_close(price(kind, weights, encoded._replace(grid=GRID + 9 * ~MASK[:, :, None])), expected)
    alone = sum(
        price(
            kind,
            weights[b : b + 1, :t, :s],
            Encoded(
                *(one[b : b + 1, :s] for one in encoded[:3]),
                grid=None if encoded.grid is None else GRID[b : b + 1, :s],
            ),
            TARGETS[b : b + 1, :t],
        )
        for b, (t, s) in enumerate(((4, 15), (2, 8)))
    )
    torch.testing.assert_close(alone, expected)


@both
@every_kind
def test_it_has_a_gradient_where_weights_come_from_energies(kind: str, encoded: Encoded) -> None:
    """What an L1 norm of weights has not: it is 1, whatever the energies are."""
    torch.manual_seed(0)
    energy = torch.randn(B, T, S).double().requires_grad_()

    def called(energy: Tensor) -> Tensor:
        return price(kind, energy.masked_fill(~MASK[:, None], -1e9).softmax(-1), encoded)

    assert gradcheck(called, (energy,), fast_mode=True)
    (slope,) = torch.autograd.grad(called(energy), energy)
    real = (TARGETS != PAD)[:, :, None] & MASK[:, None]
    assert (slope[real].abs() > 1e-6).all()
    assert (slope[~real] == 0).all()
    norm = energy.softmax(-1).abs().sum()
    assert torch.autograd.grad(norm, energy)[0].abs().max() < 1e-15


@every_kind
def test_descent_ends_at_one_place(kind: str) -> None:
    torch.manual_seed(1)
    energy = torch.randn(B, T, S).double().requires_grad_()
    rule = torch.optim.Adam([energy], lr=0.2)
    for _ in range(150):
        rule.zero_grad()
        price(kind, energy.masked_fill(~MASK[:, None], -1e9).softmax(-1)).backward()
        rule.step()
    weights = energy.detach().masked_fill(~MASK[:, None], -1e9).softmax(-1)
    assert (weights.amax(-1)[TARGETS != PAD] > 0.95).all()


def test_half_precision_weights_are_measured_in_full() -> None:
    assert price("variance", some_weights().bfloat16()).dtype == torch.float64  # as the loss it joins
    assert positions(ROW).tolist()[0][:3] == [[1], [2], [3]]
