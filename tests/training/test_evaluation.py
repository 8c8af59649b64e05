"""The dev pairs: loss by hand, scores with the right sign, and no trace left behind."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import RegardError
from regard.training.evaluation import Evaluator
from tests.training.toys import toy_job

CPU = torch.device("cpu")


def evaluator_of(folder: Path, **options: object) -> Evaluator:
    torch.manual_seed(1)
    return Evaluator(toy_job(folder, {key.replace("_", ".", 1): value for key, value in options.items()}), CPU)


def weights_of(evaluator: Evaluator) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in evaluator.model.named_parameters()}


def test_the_loss_is_the_mean_over_symbols_whatever_the_batches(tmp_path: Path) -> None:
    large, small = evaluator_of(tmp_path), evaluator_of(tmp_path, training_batch_tokens=13)
    weights = weights_of(large)
    total, symbols = 0.0, 0
    for number in range(len(large.job.dev)):  # each pair alone
        loss = large.job.task.loss(large.model, large.job.task.batch(large.job.dev_encodings, [number]))
        total, symbols = total + float(loss.nll), symbols + int(loss.symbols)
    assert large(weights).loss == pytest.approx(total / symbols, rel=1e-5)
    assert small(weights).loss == pytest.approx(total / symbols, rel=1e-5)


def test_every_dev_pair_counts_once_in_batches_that_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = evaluator_of(tmp_path, training_batch_tokens=13)
    batches: list[list[int]] = []
    make = evaluator.job.task.batch

    def spy(encodings: Sequence[Any], numbers: list[int]) -> Any:
        batches.append(numbers)
        return make(encodings, numbers)

    monkeypatch.setattr(evaluator.job.task, "batch", spy)
    evaluator(weights_of(evaluator))
    assert sorted(number for numbers in batches for number in numbers) == list(range(7))
    lengths = [max(len(one.source), len(one.target)) for one in evaluator.job.dev_encodings]
    assert all(len(numbers) == 1 or len(numbers) * max(lengths[n] for n in numbers) <= 13 for numbers in batches)
    assert len(batches) > 1


@pytest.mark.parametrize(("metric", "sign"), [("wer", 1), ("per", 1), ("accuracy", -1)])
def test_a_lower_score_is_a_better_one(metric: str, sign: int, tmp_path: Path) -> None:
    evaluator = evaluator_of(tmp_path, training_metric=metric)
    evaluation = evaluator(weights_of(evaluator))
    assert evaluation.score == sign * evaluation.metrics[metric]


def test_the_tasks_own_metric_unless_told_otherwise(tmp_path: Path) -> None:
    assert evaluator_of(tmp_path).watched == "wer"


def test_the_loss_as_metric_needs_no_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = evaluator_of(tmp_path, training_metric="loss")
    monkeypatch.setattr(evaluator.run, "answer", None)
    evaluation = evaluator(weights_of(evaluator))
    assert evaluation.score == evaluation.loss == evaluation.metrics["loss"]


def test_weights_that_break_the_loss_are_an_error_before_any_search(tmp_path: Path) -> None:
    evaluator = evaluator_of(tmp_path)
    with pytest.raises(RegardError, match="dev loss is not a number"):
        evaluator({name: weight * math.nan for name, weight in weights_of(evaluator).items()})


def test_the_weights_given_are_those_evaluated(tmp_path: Path) -> None:
    evaluator = evaluator_of(tmp_path, model_tie=True, model_embed=11)
    first = weights_of(evaluator)
    other = {name: weight * 2 for name, weight in first.items()}
    losses = [evaluator(weights).loss for weights in (first, other, first)]
    assert losses[0] == losses[2] != losses[1]


def test_no_random_number_is_drawn_and_nothing_dropped(tmp_path: Path) -> None:
    evaluator = evaluator_of(tmp_path, model_dropout=0.5)
    weights, before = weights_of(evaluator), torch.get_rng_state()
    losses = {evaluator(weights).loss for _ in range(3)}
    assert len(losses) == 1
    assert torch.equal(torch.get_rng_state(), before)


def test_the_example_is_the_first_dev_pairs_map(tmp_path: Path) -> None:
    evaluator = evaluator_of(tmp_path, search_shortest=2)
    evaluator(weights_of(evaluator))
    example = evaluator.example()
    assert example is not None
    assert example.shape[1] == len(evaluator.job.dev[0].source)
    assert evaluator_of(tmp_path, model_attention="none").example() is None
