"""Law 8: a run that was stopped anywhere and resumed equals one that was left alone, bit for bit."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from regard import files
from regard.errors import DataError, UsageError
from regard.folder import Folder, read_tensors, write_tensors
from regard.training.loop import Trainer
from tests.training.toys import differences, log_of, progress_of, toy_files, train_toy, write_pairs

ALWAYS, NEVER = 0.0, 1e9  # training.save_seconds

RECIPES: dict[str, dict[str, Any]] = {
    "dropout, ema, cosine, accumulate": {
        "model.dropout": 0.3,
        "training.average": "ema",
        "training.ema": 0.9,
        "training.accumulate": 2,
        "training.warmup": 3,
    },
    "variational, own words, plateau": {
        "model.dropout": 0.3,
        "model.variational": True,
        "training.own_words": 0.7,
        "training.schedule": "plateau",
        "training.plateau_patience": 0,
        "training.learning_rate": 0.1,
    },
    "checkpoints, adamw, tied, smoothing": {
        "model.dropout": 0.1,
        "model.tie": True,
        "model.embed": 11,
        "training.average": "checkpoints",
        "training.checkpoints": 2,
        "training.optimiser": "adamw",
        "training.weight_decay": 0.1,
        "training.smoothing": 0.1,
        "training.evaluate_every": 2,
        "training.patience": 2,
    },
    "monotonic, bf16": {"model.attention": "monotonic", "model.dropout": 0.2, "training.precision": "bf16"},
}


class KilledError(BaseException):
    """Nobody catches it, as nobody catches a kill."""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of each recipe's run that was left alone."""
    folders: dict[str, Path] = {}

    def run(name: str) -> Path:
        if name not in folders:
            folder = tmp_path_factory.mktemp("alone")
            train_toy(folder, "run", {**RECIPES[name], "training.save_seconds": NEVER})
            folders[name] = folder / "run"
        return folders[name]

    return run


def kill_after(patch: pytest.MonkeyPatch, update: int) -> None:
    """End training after this update, once it had the chance to save."""
    pause = Trainer._pause

    def pause_or_die(self: Trainer, stop: Any) -> None:
        pause(self, stop)
        if self.progress.update == update:
            raise KilledError

    patch.setattr(Trainer, "_pause", pause_or_die)


def killed(folder: Path, name: str, update: int, save_seconds: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        kill_after(patch, update)
        with pytest.raises(KilledError):
            train_toy(folder, "run", {**RECIPES[name], "training.save_seconds": save_seconds})


def resumed(folder: Path, name: str) -> None:
    torch.rand(17)  # a new process would not know this one's random state
    train_toy(folder, "run", {**RECIPES[name], "training.save_seconds": NEVER}, resume=True)


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("update", [3, 5, 7])  # within an epoch and at its end, whether it has three updates or five
def test_stopped_anywhere_and_resumed_is_the_same_run(
    name: str, update: int, alone: Callable[[str], Path], tmp_path: Path
) -> None:
    killed(tmp_path, name, update, ALWAYS)
    assert progress_of(tmp_path / "run").update == update
    resumed(tmp_path, name)
    assert differences(tmp_path / "run", alone(name)) == []


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("update", [2, 7])  # before the first save, and long after the last
def test_resumed_from_an_older_state_is_the_same_run(
    name: str, update: int, alone: Callable[[str], Path], tmp_path: Path
) -> None:
    killed(tmp_path, name, update, NEVER)
    assert (tmp_path / "run" / "training.safetensors").exists() == (update == 7)
    resumed(tmp_path, name)
    assert differences(tmp_path / "run", alone(name)) == []


@pytest.mark.parametrize("done", [False, True])
def test_killed_at_every_file_it_writes(done: bool, alone: Callable[[str], Path], tmp_path: Path) -> None:
    """Killed once at each file, just before or just after the rename that makes it, and resumed after every kill."""
    name = "checkpoints, adamw, tied, smoothing"
    replace, deaths = files.os.replace, set[str]()

    def replace_and_die(source: Path, target: Path) -> None:
        dies = target.name not in deaths
        deaths.add(target.name)
        if done or not dies:
            replace(source, target)
        if dies:
            raise KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files.os, "replace", replace_and_die)
        while "README.md" not in deaths:  # the last file of all
            with pytest.raises(KilledError):
                resumed(tmp_path, name)
        resumed(tmp_path, name)
    assert deaths >= {"recipe.yaml", "vocabulary.json", "update-10.safetensors", "model.safetensors", "config.json"}
    assert "training.safetensors" in deaths
    assert differences(tmp_path / "run", alone(name)) == []


def test_more_epochs_for_a_finished_run(tmp_path: Path) -> None:
    options = {"training.schedule": "constant", "model.dropout": 0.2}
    train_toy(tmp_path, "extended", options, epochs=1)
    train_toy(tmp_path, "extended", options, epochs=3, resume=True)
    train_toy(tmp_path, "straight", options, epochs=3)
    assert [line["epoch"] for line in log_of(tmp_path / "extended")] == [1, 2, 3]
    assert differences(tmp_path / "extended", tmp_path / "straight") == []


def test_a_finished_run_stays_as_it_is(tmp_path: Path) -> None:
    run = train_toy(tmp_path, "run", {}, epochs=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").glob("*.safetensors")}
    again = train_toy(tmp_path, "run", {}, epochs=1, resume=True)
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert again.predict("abc").output == run.predict("abc").output


def test_a_run_that_stopped_early_says_how_to_go_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    options = {"training.learning_rate": 0.0, "training.patience": 1}
    train_toy(tmp_path, "run", options, epochs=5)
    assert len(log_of(tmp_path / "run")) == 2
    with caplog.at_level(logging.WARNING, "regard"):
        train_toy(tmp_path, "run", options, epochs=6, resume=True)
    assert "larger training.patience" in caplog.text
    assert len(log_of(tmp_path / "run")) == 2
    train_toy(tmp_path, "run", {**options, "training.patience": 3}, epochs=6, resume=True)
    assert len(log_of(tmp_path / "run")) == 4


def test_other_pairs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_toy(tmp_path, "run", {}, epochs=1)
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    other = write_pairs(tmp_path / "other.tsv", 23, 3)
    monkeypatch.setattr("tests.training.toys.toy_files", lambda folder: (other, toy_files(folder)[1]))
    with pytest.raises(UsageError, match=r"not those that .* was begun with"):
        train_toy(tmp_path, "run", {}, epochs=2, resume=True)
    assert {path: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def damage(path: Path, how: str) -> None:
    tensors, notes = read_tensors(path)
    name = next(name for name in tensors if name.startswith("model/"))
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif how == "not ours":
        path.write_bytes(b"PK" + bytes(1000))
    elif how == "no progress":
        write_tensors(path, tensors)
    elif how == "odd progress":
        write_tensors(path, tensors, {"progress": '{"fingerprint": 3}'})
    elif how == "weight missing":
        write_tensors(path, {key: one for key, one in tensors.items() if key != name}, notes)
    elif how == "weight of another shape":
        write_tensors(path, {**tensors, name: torch.zeros(3, 1)}, notes)
    elif how == "statistic missing":
        write_tensors(path, {key: one for key, one in tensors.items() if not key.endswith("/exp_avg")}, notes)


KINDS = [
    "cut",
    "not ours",
    "no progress",
    "odd progress",
    "weight missing",
    "weight of another shape",
    "statistic missing",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    train_toy(folder, "run", {}, epochs=1)
    return folder


@pytest.mark.parametrize("how", KINDS)
def test_a_damaged_state_is_one_clear_error(how: str, finished: Path) -> None:
    state = finished / "run" / "training.safetensors"
    sound = state.read_bytes()
    damage(state, how)
    broken = state.read_bytes()
    with pytest.raises(DataError, match="damaged") as caught:
        train_toy(finished, "run", {}, epochs=2, resume=True)
    assert "\n" not in str(caught.value)
    assert state.read_bytes() == broken  # nothing was written over it
    state.write_bytes(sound)


def test_another_number_of_processes_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    train_toy(tmp_path, "run", {}, epochs=1)
    state = Folder(tmp_path / "run").training
    tensors, notes = read_tensors(state)
    write_tensors(state, {**tensors, "random/1": tensors["random/0"].clone()}, notes)
    with caplog.at_level(logging.WARNING, "regard"):
        train_toy(tmp_path, "run", {}, epochs=2, resume=True)
    assert "the result will differ" in caplog.text
