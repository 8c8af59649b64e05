"""Dropout drops the same numbers with and without a compiler, to the last bit: training must not depend on it."""

import pytest
import torch

from regard.fast import dropping, kernels

SEEDS = [0, 1, 2**31, 2**32 - 1, 2**32, 0x123456789ABCDEF, 2**63 - 1]


@pytest.mark.parametrize("count", [1, 2, 7, 64, 1001, 40_001])  # the last for several threads
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_equals_torch(share: float, seed: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if kernels.library() is None:
        pytest.skip("this machine has no C compiler")
    vectors = torch.randn(count)
    by_kernel = dropping._dropped(vectors, share, seed)
    monkeypatch.setattr(dropping, "library", lambda: None)
    assert torch.equal(by_kernel, dropping._dropped(vectors, share, seed))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_gradient_is_dropped_where_the_number_was(dtype: torch.dtype) -> None:
    vectors = torch.randn(5, 7, 3, dtype=dtype).transpose(0, 1).requires_grad_()
    dropped = dropping.drop(vectors, 0.4)
    weights = torch.randn(7, 5, 3, dtype=dtype)
    (dropped * weights).sum().backward()
    kept = dropped != 0
    assert 0 < kept.sum() < kept.numel()
    torch.testing.assert_close(dropped, torch.where(kept, vectors / 0.6, 0))
    assert vectors.grad is not None
    torch.testing.assert_close(vectors.grad, torch.where(kept, weights / 0.6, 0))


def test_what_is_dropped_is_zero_whatever_it_was() -> None:
    dropped = dropping.drop(torch.full((1000,), float("inf")), 0.5)
    assert set(dropped.tolist()) == {0.0, float("inf")}


def test_draws_are_even() -> None:
    """Each value of 16 bits about as often as the next, under neighbouring seeds as well as far ones."""
    for seed in SEEDS:
        counts = torch.histc(dropping.draws(1 << 18, seed).double(), 64, 0, 2**16)
        chi_squared = ((counts - 4096) ** 2 / 4096).sum()
        assert 25 < chi_squared < 120  # 63 on average, with a deviation of 11: neither uneven nor too even


def test_draws_of_two_seeds_and_of_near_places_have_nothing_in_common() -> None:
    seeds = torch.randint(2**63 - 1, (12,), generator=torch.Generator().manual_seed(1)).tolist()
    numbers = torch.stack([dropping.draws(20_000, seed).double() for seed in seeds])
    near = [numbers[0].roll(shift) for shift in (1, 2, 4, 256, 10_000)]
    together = torch.corrcoef(torch.cat([numbers, torch.stack(near)])) - torch.eye(len(numbers) + len(near))
    assert together.abs().max() < 0.04


def test_a_seed_of_torch_decides() -> None:
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append((dropping.drop(torch.ones(999), 0.3), dropping.drop(torch.ones(999), 0.3)))
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    assert not torch.equal(found[0][0], found[0][1])
    assert not torch.equal(found[0][0], found[2][0])
