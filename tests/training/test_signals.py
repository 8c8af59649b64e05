"""Ctrl-C and SIGTERM, in this process and in a real one."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

from regard.training.signals import Stopped, StopRequest
from tests.training.toys import SIZES, differences, progress_of, toy_files, train_toy

EPOCHS = 15
OPTIONS = {"training.save_seconds": 1e9, "training.metric": "loss", "model.dropout": 0.2}


def test_a_signal_raises_the_flag_and_nothing_else() -> None:
    with StopRequest() as stop:
        assert stop.signal == 0
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.signal == signal.SIGTERM


def test_a_second_ctrl_c_stops_at_once() -> None:
    with StopRequest() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.signal == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_second_sigterm_waits_for_the_save() -> None:
    with StopRequest() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.signal == signal.SIGTERM


def test_the_handlers_of_before_come_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyError), StopRequest():
        raise KeyError
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_outside_the_main_thread_there_are_no_signals_to_catch() -> None:
    seen: list[int] = []

    def elsewhere() -> None:
        with StopRequest() as stop:
            seen.append(stop.signal)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [0]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_exit_code_is_the_shells(number: int, code: int) -> None:
    assert Stopped(number).exit_code == code


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    train_toy(folder, "run", OPTIONS, epochs=EPOCHS)
    return folder / "run"


def command(folder: Path) -> list[str]:
    pairs, dev = toy_files(folder)
    settings = [f"--set={key}={value}" for key, value in {**SIZES, **OPTIONS}.items()]
    fixed = ["--task=pronounce", "--recipe=tiny", f"--dev={dev}", f"--out={folder / 'run'}", "--device=cpu", "--quiet"]
    return [sys.executable, "-m", "regard", "train", str(pairs), *fixed, f"--epochs={EPOCHS}", *settings]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_real_signal_saves_and_the_run_goes_on_later(number: int, code: int, alone: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}
    process = subprocess.Popen(command(tmp_path), env=environment, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "run" / "log.jsonl"
    while not (log.exists() and log.stat().st_size) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == code
    assert said == "regard: stopped; the same command with --resume goes on from here\n"
    assert 5 <= progress_of(tmp_path / "run").update < 5 * EPOCHS
    train_toy(tmp_path, "run", OPTIONS, epochs=EPOCHS, resume=True)
    assert differences(tmp_path / "run", alone) == []
