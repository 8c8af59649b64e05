"""What one update and one epoch do, against the same worked out by hand."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from regard.errors import RegardError, UsageError
from regard.folder import read_tensors
from regard.losses import Loss
from regard.tasks import pronounce
from regard.training.evaluation import Evaluation, Evaluator
from regard.training.learner import Learner
from regard.training.loop import Trainer
from regard.training.schedule import learning_rate
from tests.training.toys import log_of, progress_of, toy_trainer, train_toy


@pytest.fixture
def double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Tensor]]:
    """The gradients each update would be made with; the weights stay as they are."""
    seen: list[dict[str, Tensor]] = []

    def record(self: Learner, rate: float, updates: int, length: float) -> None:
        seen.append({name: weight.grad.clone() for name, weight in self.model.named_parameters()})
        self.optimiser.zero_grad()

    monkeypatch.setattr(Learner, "step", record)
    return seen


def by_hand(trainer: Trainer, numbers: list[int], smoothing: float) -> dict[str, Tensor]:
    """The gradient of the mean loss per symbol over these pairs in one batch, with torch's own loss."""
    model = trainer.learner.model
    batch = trainer.job.task.batch(trainer.job.encodings, numbers)
    logits = model(batch.source, batch.target.data[:, :-1]).logits
    loss = functional.cross_entropy(
        logits.flatten(0, 1), batch.target.data[:, 1:].flatten(), ignore_index=0, label_smoothing=smoothing
    )
    return dict(zip(trainer.learner.shapes, torch.autograd.grad(loss, list(model.parameters())), strict=True))


def length(gradients: dict[str, Tensor]) -> float:
    return math.sqrt(sum(float((one**2).sum()) for one in gradients.values()))


@pytest.mark.parametrize(("accumulate", "smoothing"), [(1, 0.0), (2, 0.0), (3, 0.2)])
@pytest.mark.usefixtures("double")
def test_an_update_follows_the_mean_loss_over_all_its_batches(
    accumulate: int, smoothing: float, tmp_path: Path, steps: list[dict[str, Tensor]]
) -> None:
    options = {"training.accumulate": accumulate, "training.smoothing": smoothing, "training.clip": 0.0}
    trainer = toy_trainer(tmp_path, {**options, "training.epochs": 1})
    trainer.run()
    batches = trainer.plan.batches(0)
    assert len(steps) == math.ceil(len(batches) / accumulate)
    for place, found in enumerate(steps):
        group = batches[place * accumulate : (place + 1) * accumulate]
        expected = by_hand(trainer, [number for numbers in group for number in numbers], smoothing)
        for name, one in expected.items():
            torch.testing.assert_close(found[name], one, rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("double")
def test_a_long_gradient_is_shortened_and_keeps_its_direction(tmp_path: Path, steps: list[dict[str, Tensor]]) -> None:
    trainer = toy_trainer(tmp_path, {"training.clip": 0.01, "training.epochs": 1})
    trainer.run()
    expected = by_hand(trainer, trainer.plan.batches(0)[0], 0.0)
    assert length(expected) > 0.1
    assert length(steps[0]) == pytest.approx(0.01, rel=1e-3)
    for name, one in expected.items():
        torch.testing.assert_close(steps[0][name], one * 0.01 / length(expected), rtol=1e-3, atol=1e-12)


@pytest.mark.usefixtures("double")
def test_a_short_gradient_stays(tmp_path: Path, steps: list[dict[str, Tensor]]) -> None:
    trainer = toy_trainer(tmp_path, {"training.clip": 1e6, "training.epochs": 1})
    trainer.run()
    for name, one in by_hand(trainer, trainer.plan.batches(0)[0], 0.0).items():
        torch.testing.assert_close(steps[0][name], one, rtol=1e-9, atol=1e-12)


def test_the_log_has_the_mean_loss_per_symbol_and_the_last_rate(tmp_path: Path, steps: list[dict[str, Tensor]]) -> None:
    """Nothing is learnt here, so the epoch's loss is that of the first weights over all pairs."""
    trainer = toy_trainer(tmp_path, {"training.epochs": 2, "training.smoothing": 0.3})
    trainer.run()
    batch = trainer.job.task.batch(trainer.job.encodings, list(range(len(trainer.job.encodings))))
    loss = trainer.job.task.loss(trainer.learner.model, batch)
    lines = log_of(tmp_path / "run")
    assert [line["loss"] for line in lines] == pytest.approx([float(loss.nll / loss.symbols)] * 2, abs=2e-6)
    rates = [learning_rate(trainer.options, update, update / 10, 0) for update in (4, 9)]
    assert [line["learning_rate"] for line in lines] == pytest.approx(rates)


def test_own_words_come_linearly_over_all_epochs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    loss = pronounce.loss

    def spy(model: Any, batch: Any, smoothing: float = 0.0, own: float = 0.0) -> Loss:
        shares.append(own) if model.training else None
        return loss(model, batch, smoothing, own)

    monkeypatch.setattr(pronounce, "loss", spy)
    train_toy(tmp_path, "run", {"training.own_words": 0.5}, epochs=2)
    assert shares == pytest.approx([0.5 * k / 10 for k in range(10)])


def test_fewer_pairs_than_processes_count_for_nothing_twice(tmp_path: Path) -> None:
    """The second of two processes with a batch of one pair: it takes part, with gradients of zero."""
    trainer = toy_trainer(tmp_path, {})
    trainer.engine.world, trainer.engine.rank = 2, 1
    assert trainer._backward(trainer._batch([3]), 7, 0.0) == 0.0
    assert all(bool((weight.grad == 0).all()) for weight in trainer.learner.model.parameters())
    assert trainer._backward(trainer._batch([3, 4]), 7, 0.0) > 0.0
    assert any(bool((weight.grad != 0).any()) for weight in trainer.learner.model.parameters())


VARIANTS: list[dict[str, Any]] = [
    {"model.attention": "none"},
    {"model.attention": "none", "model.start": "mean"},
    {"model.attention": "fixed"},
    {"model.attention": "monotonic"},
    {"model.terms": ["location", "coverage"], "model.window": 2},
    {"model.heads": 2, "model.input_feeding": True, "model.query": "current"},
    {"model.start": "zero", "model.output": "plain"},
    {"model.start": "learned", "model.output": "maxout"},
    {"model.start": "same", "model.encoder_layers": 2, "model.decoder_layers": 2, "model.output": "deep"},
    {"model.tie": True, "model.embed": 11},
    {"model.cell": "gru", "model.bidirectional": False},
    {"training.own_words": 1.0},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_every_weight_takes_part_in_every_update(options: dict[str, Any], tmp_path: Path) -> None:
    """Otherwise the copies of a model on several processes would wait for gradients that never come."""
    trainer = toy_trainer(tmp_path, options)
    trainer._backward(trainer._batch([0, 1, 2]), 7, 0.5)
    idle = [name for name, weight in trainer.learner.model.named_parameters() if weight.grad is None]
    assert idle == []


def test_bf16_learns_with_weights_in_full_precision(tmp_path: Path) -> None:
    train_toy(tmp_path, "half", {"training.precision": "bf16"}, epochs=2)
    train_toy(tmp_path, "full", {"training.precision": "fp32"}, epochs=2)
    half, full = (read_tensors(tmp_path / name / "model.safetensors")[0] for name in ("half", "full"))
    assert all(one.dtype == torch.float32 and bool(one.isfinite().all()) for one in half.values())
    assert any(not torch.equal(half[name], full[name]) for name in full)
    losses = [[line["loss"] for line in log_of(tmp_path / name)] for name in ("half", "full")]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert losses[0][1] < losses[0][0]


def poison(monkeypatch: pytest.MonkeyPatch, update: int) -> None:
    """The loss of this update, counted from 1, is not a number."""
    loss, calls = pronounce.loss, 0

    def poisoned(model: Any, batch: Any, smoothing: float = 0.0, own: float = 0.0) -> Loss:
        nonlocal calls
        found = loss(model, batch, smoothing, own)
        calls += model.training
        return found._replace(total=found.total * math.nan) if model.training and calls == update else found

    monkeypatch.setattr(pronounce, "loss", poisoned)


@pytest.mark.parametrize("save_seconds", [0.0, 1e9])
def test_not_a_number_names_the_lines_and_saves_nothing(
    save_seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"training.save_seconds": save_seconds}
    train_toy(tmp_path, "sound", options)
    weights = (tmp_path / "sound" / "model.safetensors").read_bytes()
    with monkeypatch.context() as patch:
        poison(patch, 8)
        with pytest.raises(RegardError, match=r"at update 8, in the batch of .*pairs.tsv, line [0-9]+") as caught:
            train_toy(tmp_path, "run", options)
    assert caught.value.exit_code == 1
    assert str(caught.value).count("pairs.tsv, line") == 3
    assert "and 2 more" in str(caught.value)
    assert progress_of(tmp_path / "run").update == (7 if save_seconds == 0 else 5)
    train_toy(tmp_path, "run", options, resume=True)  # the last good state is good
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == weights


def test_a_rate_that_breaks_the_weights_stops_before_they_are_kept(tmp_path: Path) -> None:
    """One update an epoch: its own loss was fine, and only the dev loss can tell."""
    options = {"training.learning_rate": 1e37, "training.batch_size": 100}
    with pytest.raises(RegardError, match="the dev loss is not a number any more"):
        train_toy(tmp_path, "run", options)
    assert not (tmp_path / "run" / "model.safetensors").exists()
    assert not (tmp_path / "run" / "training.safetensors").exists()


class Script:
    """Evaluations as the test says, epoch after epoch; remembers the weights of each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, evaluations: list[tuple[float, float]]):
        self.weights: list[dict[str, Tensor]] = []

        def evaluate(_evaluator: Evaluator, weights: dict[str, Tensor]) -> Evaluation:
            score, loss = evaluations[len(self.weights)]
            self.weights.append(weights)
            return Evaluation(loss, score, {"wer": score})

        monkeypatch.setattr(Evaluator, "__call__", evaluate)

    def kept(self, folder: Path) -> list[int]:
        """The epochs, from 1, whose weights are in the folder."""
        found, _ = read_tensors(folder / "model.safetensors")
        same = [all(torch.equal(one[name], found[name]) for name in found) for one in self.weights]
        return [epoch for epoch, equal in enumerate(same, 1) if equal]


def test_the_best_are_kept_by_metric_then_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(monkeypatch, [(50, 1.0), (40, 3.0), (40, 2.0), (41, 0.1), (40, 2.0), (40, 2.5)])
    train_toy(tmp_path, "run", {}, epochs=6)
    assert script.kept(tmp_path / "run") == [3]
    assert [line["best"] for line in log_of(tmp_path / "run")] == [True, True, True, False, False, False]
    assert progress_of(tmp_path / "run").best_epoch == 3


@pytest.mark.parametrize(("patience", "epochs"), [(1, 3), (2, 6), (3, 7), (0, 9)])
def test_it_stops_after_that_many_without_a_better_one(
    patience: int, epochs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Script(monkeypatch, [(9, 0), (8, 0), (8, 1), (7, 0), (7, 0), (7, 0), (7, 0), (7, 0), (7, 0)])
    train_toy(tmp_path, "run", {"training.patience": patience}, epochs=9)
    assert len(log_of(tmp_path / "run")) == epochs


def test_the_rate_falls_on_a_plateau(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It bears `plateau_patience` evaluations without a better one and falls at the next, then counts anew."""
    Script(monkeypatch, [(9, 0), (9, 0), (9, 0), (9, 0), (9, 0), (8, 0), (8, 0), (8, 0), (8, 0)])
    options = {"training.schedule": "plateau", "training.plateau_patience": 1, "training.learning_rate": 0.08}
    train_toy(tmp_path, "run", options, epochs=9)
    rates = [line["learning_rate"] for line in log_of(tmp_path / "run")]
    assert rates == pytest.approx([0.08, 0.08, 0.08, 0.04, 0.04, 0.02, 0.02, 0.02, 0.01])


@pytest.mark.parametrize("mean_is_better", [True, False])
def test_the_mean_of_the_best_checkpoints_is_kept_if_it_is_better(
    mean_is_better: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = (1.0, 1.0) if mean_is_better else (2.0, 1.0)
    script = Script(monkeypatch, [(4, 0), (2, 0), (5, 0), (3, 0), last])
    train_toy(tmp_path, "run", {"training.average": "checkpoints", "training.checkpoints": 2}, epochs=4)
    assert script.kept(tmp_path / "run") == [5 if mean_is_better else 2]
    second, fourth, mean = script.weights[1], script.weights[3], script.weights[4]
    for name in mean:
        torch.testing.assert_close(mean[name], (second[name] + fourth[name]) / 2)
    assert sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir()) == [
        "update-10.safetensors",
        "update-20.safetensors",
    ]
    assert progress_of(tmp_path / "run").best == min(2.0, last[0])


def test_a_better_mean_is_not_lost_when_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(monkeypatch, [(4, 0), (3, 0), (1, 0), (2, 0), (5, 0)])  # the third and the last are means
    options = {"training.average": "checkpoints"}
    train_toy(tmp_path, "run", options, epochs=2)
    train_toy(tmp_path, "run", options, epochs=3, resume=True)
    assert script.kept(tmp_path / "run") == [3]


def test_the_running_average_is_what_is_evaluated_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(monkeypatch, [(2, 0), (1, 0)])
    train_toy(tmp_path, "run", {"training.average": "ema"}, epochs=2)
    state, _ = read_tensors(tmp_path / "run" / "training.safetensors")
    assert all(torch.equal(one, state[f"average/{name}"]) for name, one in script.weights[1].items())
    assert any(not torch.equal(one, state[f"model/{name}"]) for name, one in script.weights[1].items())


def test_evaluations_come_every_so_many_epochs_and_at_the_end(tmp_path: Path) -> None:
    train_toy(tmp_path, "run", {"training.evaluate_every": 2}, epochs=3)
    assert ["dev" in line for line in log_of(tmp_path / "run")] == [False, True, True]


def test_a_seed_is_a_run_and_another_seed_another(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        torch.rand(3)
        train_toy(tmp_path, name, {"training.seed": seed, "model.dropout": 0.3}, epochs=1)
    a, b, c = ((tmp_path / name / "model.safetensors").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_processes_begin_alike_and_draw_their_own_dropout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights, random = [], []
    for rank, seed in (("0", 1), ("1", 1), ("0", 2)):
        monkeypatch.setenv("RANK", rank)
        (tmp_path / f"{rank}-{seed}").mkdir()
        trainer = toy_trainer(tmp_path / f"{rank}-{seed}", {"training.seed": seed})
        weights.append(trainer.learner.weights())
        random.append(torch.get_rng_state())
    assert all(torch.equal(weights[0][name], one) for name, one in weights[1].items())
    assert any(not torch.equal(weights[0][name], one) for name, one in weights[2].items())
    assert not torch.equal(random[0], random[1])
    assert not torch.equal(random[0], random[2])


def test_processes_that_differ_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.training.engine.Engine.agree", lambda _engine, _text: False)
    with pytest.raises(UsageError, match="same command"):
        train_toy(tmp_path, "run", {})
    assert not (tmp_path / "run").exists()
