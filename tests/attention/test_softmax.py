"""masked_softmax and its cousins: the same laws for all three, and each against a slow solver."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention import NORMALISERS

Array = NDArray[np.float64]
Pairs = list[tuple[float, bool]]  # energy, real place
Normalise = Callable[[Tensor, Tensor], Tensor]
every = pytest.mark.parametrize("normalise", NORMALISERS.values(), ids=NORMALISERS)

energies = st.lists(st.tuples(st.floats(-30, 30), st.booleans()), min_size=1, max_size=12)


def solve_softmax(energy: Array) -> Array:
    powers = [math.exp(e - max(energy)) for e in energy]
    return np.array([power / sum(powers) for power in powers])


def solve_by_bisection(energy: Array, exponent: float) -> Array:
    """max(0, e − τ)^exponent, with τ halved in until the weights sum to 1."""
    low, high = max(energy) - 1.0, max(energy)
    for _ in range(200):
        middle = (low + high) / 2
        if (np.maximum(energy - middle, 0) ** exponent).sum() > 1:
            low = middle
        else:
            high = middle
    weights: Array = np.maximum(energy - high, 0) ** exponent
    return weights


SOLVERS: dict[str, Callable[[Array], Array]] = {
    "softmax": solve_softmax,
    "sparsemax": lambda energy: solve_by_bisection(energy, 1),
    "entmax15": lambda energy: solve_by_bisection(energy / 2, 2),
}


def split(pairs: Pairs, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    return torch.tensor([e for e, _ in pairs], dtype=dtype), torch.tensor([real for _, real in pairs])


@pytest.mark.parametrize("name", NORMALISERS)
@settings(deadline=None)
@given(pairs=energies)
def test_equals_a_slow_solver_on_the_real_places(name: str, pairs: Pairs) -> None:
    energy, mask = split(pairs)
    weights = NORMALISERS[name](energy, mask)
    assert (weights[~mask] == 0).all()
    if mask.any():
        expected = torch.from_numpy(SOLVERS[name](energy[mask].numpy()))
        torch.testing.assert_close(weights[mask], expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("softmax", [math.e / (math.e + 1), 1 / (math.e + 1)]),
        ("sparsemax", [1.0, 0.0]),  # a distance of 1 is enough to have everything
        # a² + b² = 1 and a − b = 1/2, so a, b = (√7 ± 1)/4
        ("entmax15", [(math.sqrt(7) + 1) ** 2 / 16, (math.sqrt(7) - 1) ** 2 / 16]),
    ],
)
def test_two_places_by_hand(name: str, expected: list[float]) -> None:
    weights = NORMALISERS[name](torch.tensor([3.0, 2.0]), torch.tensor([True, True]))
    assert weights.tolist() == pytest.approx(expected, abs=1e-6)


@every
@settings(deadline=None)
@given(pairs=energies, shift=st.floats(-1000, 1000))
def test_a_shift_changes_nothing(normalise: Normalise, pairs: Pairs, shift: float) -> None:
    energy, mask = split(pairs)
    torch.testing.assert_close(normalise(energy + shift, mask), normalise(energy, mask), atol=1e-9, rtol=0)


@every
@settings(deadline=None)
@given(pairs=energies)
def test_a_better_place_never_weighs_less(normalise: Normalise, pairs: Pairs) -> None:
    energy, mask = split(pairs)
    ranked, order = energy[mask].sort()
    weights = normalise(energy, mask)[mask][order]
    assert (weights.diff() >= -1e-15).all()
    assert (weights.diff()[ranked.diff() == 0].abs() <= 1e-15).all()


@every
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 1e-2)], ids=str)
@settings(deadline=None)
@given(pairs=st.lists(st.tuples(st.floats(-1e4, 1e4), st.booleans()), min_size=1, max_size=12))
def test_sums_to_one_at_large_energies(
    normalise: Normalise, dtype: torch.dtype, tolerance: float, pairs: Pairs
) -> None:
    energy, mask = split(pairs, dtype)
    weights = normalise(energy, mask)
    assert weights.dtype == dtype
    assert (weights[~mask] == 0).all()
    assert (weights >= 0).all()
    assert weights.sum().item() == pytest.approx(1.0 if mask.any() else 0.0, abs=tolerance)


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_corners_that_lose_the_row_elsewhere(normalise: Normalise, dtype: torch.dtype) -> None:
    mask = torch.tensor([[True, False, True], [True, False, True], [True, True, True]])
    energy = torch.tensor([[-1e4, 1e4, -1e4], [1e4, -1e4, -1e4], [-1e4, 1e4, 0.0]], dtype=dtype)
    expected = torch.tensor([[0.5, 0.0, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], dtype=dtype)
    torch.testing.assert_close(normalise(energy, mask), expected, atol=1e-6, rtol=0)


@every
@pytest.mark.parametrize("poison", [math.inf, -math.inf, math.nan])
def test_padding_may_hold_anything(normalise: Normalise, poison: float) -> None:
    energy = torch.tensor([0.3, poison, 0.1, poison], requires_grad=True)
    mask = torch.tensor([True, False, True, False])
    weights = normalise(energy, mask)
    torch.testing.assert_close(weights[mask], normalise(torch.tensor([0.3, 0.1]), mask[mask]))
    (gradient,) = torch.autograd.grad(weights[0], energy)
    assert gradient.isfinite().all()
    assert (gradient[~mask] == 0).all()


@every
def test_nothing_to_read_is_zero_with_zero_gradient(normalise: Normalise) -> None:
    energy = torch.tensor([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3]], requires_grad=True)
    mask = torch.tensor([[False, False, False], [True, True, False]])
    weights = normalise(energy, mask)
    assert (weights[0] == 0).all()
    (gradient,) = torch.autograd.grad((weights * torch.arange(3.0)).sum(), energy)
    assert (gradient[0] == 0).all()
    assert (gradient[1, :2] != 0).all()


@every
@pytest.mark.parametrize("seed", range(5))
def test_gradient(normalise: Normalise, seed: int) -> None:
    torch.manual_seed(seed)
    energy = torch.randn(3, 7, dtype=torch.float64, requires_grad=True)
    mask = torch.rand(3, 7) < 0.8
    assert gradcheck(lambda e: normalise(e, mask), (energy,))


@every
def test_gradient_is_finite_where_energies_tie_or_are_far_apart(normalise: Normalise) -> None:
    rows = [[1.0, 1.0, 1.0, 0.0], [0.0, -1.0, -2.0, -4.0], [1e4, -1e4, 0.0, 1e4], [0.0, 0.0, -2.0, -2.0]]
    energy = torch.tensor(rows, requires_grad=True)
    weights = normalise(energy, torch.ones_like(energy, dtype=torch.bool))
    (gradient,) = torch.autograd.grad((weights * torch.arange(4.0)).sum(), energy)
    assert gradient.isfinite().all()
    assert gradient.sum(-1).tolist() == pytest.approx([0, 0, 0, 0], abs=1e-5)  # a shift changes nothing


@every
def test_many_places_still_sum_to_one(normalise: Normalise) -> None:
    torch.manual_seed(0)
    energy = torch.randn(2, 997) / 100
    weights = normalise(energy, torch.ones_like(energy, dtype=torch.bool))
    assert weights.sum(-1).tolist() == pytest.approx([1, 1], abs=1e-4)


@pytest.mark.parametrize("name", ["sparsemax", "entmax15"])
def test_the_cousins_are_sparse_and_softmax_is_not(name: str) -> None:
    energy, mask = torch.tensor([2.0, 1.5, -1.0]), torch.tensor([True, True, True])
    assert (NORMALISERS[name](energy, mask) > 0).tolist() == [True, True, False]
    assert (NORMALISERS["softmax"](energy, mask) > 0).all()


@every
def test_input_is_left_alone(normalise: Normalise) -> None:
    energy, mask = torch.randn(2, 3, 5), torch.rand(2, 1, 5) < 0.5
    before = energy.clone(), mask.clone()
    normalise(energy, mask)
    assert torch.equal(energy, before[0])
    assert torch.equal(mask, before[1])
