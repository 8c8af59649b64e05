"""The log, the bar and TensorBoard."""

import errno
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from regard.errors import MissingExtra, RegardError
from regard.training.loop import Trainer
from regard.training.progress import Bar, Board, Log, describe_epoch
from tests.training.toys import log_of, train_toy


def test_the_log_is_one_readable_line_per_event(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl", 0)
    log.write({"event": "epoch", "word": "नमस्ते"})
    log.write({"event": "epoch", "word": "b\nc"})
    text = (tmp_path / "log.jsonl").read_text("utf-8")
    assert "नमस्ते" in text
    assert [json.loads(line)["word"] for line in text.splitlines()] == ["नमस्ते", "b\nc"]
    assert log.size == len(text.encode("utf-8"))


def test_a_resumed_log_forgets_what_the_state_does_not_know(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl", 0)
    log.write({"epoch": 1})
    known = log.size
    log.write({"epoch": 2})
    Log(tmp_path / "log.jsonl", known).write({"epoch": 3})
    assert [line["epoch"] for line in log_of(tmp_path)] == [1, 3]


def test_a_log_that_was_taken_away_is_begun_anew(tmp_path: Path) -> None:
    Log(tmp_path / "log.jsonl", 1000).write({"epoch": 2})
    assert [line["epoch"] for line in log_of(tmp_path)] == [2]


def test_a_log_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(RegardError, match=r"cannot write .*log.jsonl"):
        Log(tmp_path / "log.jsonl", 0)


def test_a_full_disk_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    log = Log(tmp_path / "log.jsonl", 0)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RegardError, match=r"cannot write .*: No space left"):
        log.write({"epoch": 1})


def test_the_bar_shows_loss_and_rate(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar(10, 3, True)
    bar.update(2, 1.25, 400)
    bar.bar.refresh()
    bar.close()
    shown = capsys.readouterr().err
    assert "epoch 2" in shown
    assert "4/10" in shown
    assert "loss 1.250" in shown
    assert "symbols/s" in shown


def test_a_quiet_bar_says_nothing_but_counts(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar(10, 0, False)
    bar.update(1, 1.25, 400)
    bar.say("a line")
    bar.close()
    assert capsys.readouterr().err == ""
    assert bar.rate > 0


def test_an_epoch_in_one_line() -> None:
    event = {"epoch": 7, "loss": 0.12345, "dev": {"wer": 25.0, "per": 4.125}, "best": True}
    assert describe_epoch(event) == "epoch   7: loss 0.123; dev wer 25.00, per 4.12 *"
    assert describe_epoch({"epoch": 7, "loss": 0.5}) == "epoch   7: loss 0.500"


def board_of(folder: Path) -> EventAccumulator:
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return events


def test_tensorboard_gets_scalars_and_a_picture(tmp_path: Path) -> None:
    train_toy(tmp_path, "run", {"training.tensorboard": True, "search.shortest": 1}, epochs=2)
    events, log = board_of(tmp_path / "run"), log_of(tmp_path / "run")
    for name, key in (("train/loss", "loss"), ("dev/loss", "dev_loss")):
        assert [one.step for one in events.Scalars(name)] == [line["update"] for line in log]
        assert [one.value for one in events.Scalars(name)] == pytest.approx([line[key] for line in log], abs=1e-5)
    assert [one.value for one in events.Scalars("wer")] == pytest.approx([line["dev"]["wer"] for line in log])
    assert [one.step for one in events.Images("attention")] == [line["update"] for line in log]


def test_a_weight_is_a_square_of_the_picture(tmp_path: Path) -> None:
    board = Board(tmp_path / "tensorboard", 0)
    board.write({}, np.eye(3, 5, dtype=np.float32), 1)
    board.close()
    picture = board_of(tmp_path).Images("attention")[0]
    assert (picture.height, picture.width) == (48, 80)


def test_an_empty_answer_has_no_picture(tmp_path: Path) -> None:
    board = Board(tmp_path / "tensorboard", 0)
    board.write({"dev/loss": 2.0}, np.zeros((0, 5), dtype=np.float32), 1)
    board.close()
    assert board_of(tmp_path).Tags()["images"] == []
    assert board_of(tmp_path).Scalars("dev/loss")[0].value == 2.0


def test_a_model_without_attention_has_no_picture(tmp_path: Path) -> None:
    train_toy(tmp_path, "run", {"training.tensorboard": True, "model.attention": "none"}, epochs=1)
    assert board_of(tmp_path / "run").Tags()["images"] == []


def test_a_resumed_run_takes_back_what_the_state_does_not_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save_or_die(self: Trainer) -> None:
        if self.progress.epoch == 2:
            raise KeyboardInterrupt  # after TensorBoard and log were written
        save(self)

    save = Trainer._save
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_save", save_or_die)
        with pytest.raises(KeyboardInterrupt):
            train_toy(tmp_path, "run", {"training.tensorboard": True})
    train_toy(tmp_path, "run", {"training.tensorboard": True}, resume=True)
    assert len(os.listdir(tmp_path / "run" / "tensorboard")) == 2
    assert [one.step for one in board_of(tmp_path / "run").Scalars("train/loss")] == [5, 10, 15]


def test_without_the_extra_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtra, match=r"regard\[tensorboard\]"):
        train_toy(tmp_path, "run", {"training.tensorboard": True})
    assert not (tmp_path / "run").exists()
