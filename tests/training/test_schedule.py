"""Learning rates worked out by hand."""

import pytest

from regard.recipe import Training
from regard.training.schedule import learning_rate


def test_warm_up_rises_linearly_and_then_stays() -> None:
    options = Training(learning_rate=0.8, warmup=4, schedule="constant")
    rates = [learning_rate(options, update, 0.5, 3) for update in range(6)]
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.8])


def test_without_warm_up_the_first_update_has_the_full_rate() -> None:
    assert learning_rate(Training(learning_rate=0.8, warmup=0, schedule="constant"), 0, 0.0, 0) == 0.8


@pytest.mark.parametrize(("progress", "rate"), [(0.0, 0.9), (1 / 3, 0.7), (0.5, 0.5), (2 / 3, 0.3), (1.0, 0.1)])
def test_cosine_falls_from_top_to_floor(progress: float, rate: float) -> None:
    options = Training(learning_rate=0.9, floor=0.1, schedule="cosine")  # 0.1 + 0.8 (1 + cos π·progress) / 2
    assert learning_rate(options, 100, progress, 5) == pytest.approx(rate)


def test_cosine_stays_at_the_floor_when_a_run_goes_on_for_longer() -> None:
    assert learning_rate(Training(learning_rate=0.9, floor=0.1, schedule="cosine"), 100, 1.5, 0) == pytest.approx(0.1)


def test_cosine_while_warming_up() -> None:
    options = Training(learning_rate=0.9, floor=0.1, schedule="cosine", warmup=10)
    assert learning_rate(options, 4, 0.5, 0) == pytest.approx(0.25)  # half of 0.5


def test_plateau_falls_by_its_factor_to_the_floor() -> None:
    options = Training(learning_rate=0.8, floor=0.15, schedule="plateau", plateau_factor=0.5)
    assert [learning_rate(options, 9, 0.9, falls) for falls in range(5)] == pytest.approx([0.8, 0.4, 0.2, 0.15, 0.15])


@pytest.mark.parametrize("schedule", ["plateau", "cosine"])
def test_a_floor_above_the_top_never_raises_the_rate(schedule: str) -> None:
    options = Training(learning_rate=1e-6, floor=1e-5, schedule=schedule)
    assert learning_rate(options, 9, 1.0, 7) == 1e-6
