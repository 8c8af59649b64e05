"""A model with its optimiser and average: what it saves is all it is."""

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import DataError
from regard.training.engine import Engine
from regard.training.learner import Learner
from tests.training.toys import toy_job

OPTIONS: list[dict[str, Any]] = [
    {"training.average": "ema", "training.ema": 0.5},
    {"training.optimiser": "adamw", "training.weight_decay": 0.1, "model.tie": True, "model.embed": 11},
]


def learner_of(folder: Path, options: dict[str, Any], seed: int) -> Learner:
    job = toy_job(folder, options)
    torch.manual_seed(seed)
    return Learner(job.task.build(job.codec, job.recipe), job.recipe.training, Engine("cpu"))


def update(learner: Learner, count: int, seed: int) -> None:
    torch.manual_seed(seed)
    for number in range(count):
        for weight in learner.model.parameters():
            weight.grad = torch.randn_like(weight)
        learner.step(0.01, number, learner.length())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_restored_learner_goes_on_as_the_first(options: dict[str, Any], tmp_path: Path) -> None:
    first, second = learner_of(tmp_path, options, 1), learner_of(tmp_path, options, 2)
    update(first, 3, 1)
    second.restore({name: one.clone() for name, one in first.tensors().items()})
    for one in (first, second):
        update(one, 2, 7)
    mine, other = first.tensors(), second.tensors()
    assert [name for name in mine if not torch.equal(mine[name], other[name])] == []
    assert float(other[f"optimiser/{next(iter(first.shapes))}/step"]) == 5.0


def test_a_step_goes_against_the_gradient_at_the_rate_given(tmp_path: Path) -> None:
    """Adam's first step is the rate, in the direction of the sign, whatever the gradient's length."""
    learner = learner_of(tmp_path, {}, 1)
    before = learner.weights()
    update(learner, 1, 3)
    torch.manual_seed(3)
    for name, one in learner.weights().items():
        gradient = torch.randn_like(one)
        torch.testing.assert_close(one, before[name] - 0.01 * gradient.sign(), rtol=1e-4, atol=1e-4)
    assert all(weight.grad is None for weight in learner.model.parameters())


def test_the_candidate_is_the_average_and_asking_changes_nothing(tmp_path: Path) -> None:
    learner = learner_of(tmp_path, OPTIONS[0], 1)
    update(learner, 3, 1)
    before, candidate = learner.weights(), learner.candidate()
    assert any(not torch.equal(before[name], candidate[name]) for name in before)
    assert all(torch.equal(before[name], one) for name, one in learner.weights().items())
    assert all(torch.equal(candidate[name], one) for name, one in learner.candidate().items())


def test_without_an_average_the_candidate_is_the_model(tmp_path: Path) -> None:
    learner = learner_of(tmp_path, {}, 1)
    assert all(torch.equal(one, learner.weights()[name]) for name, one in learner.candidate().items())


def test_half_a_state_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    first, second = learner_of(tmp_path, OPTIONS[0], 1), learner_of(tmp_path, OPTIONS[0], 2)
    update(first, 1, 1)
    before, whole = second.weights(), first.tensors()
    for missing in whole:
        with pytest.raises(DataError, match="is missing"):
            second.restore({name: one for name, one in whole.items() if name != missing})
    assert all(torch.equal(before[name], one) for name, one in second.weights().items())
