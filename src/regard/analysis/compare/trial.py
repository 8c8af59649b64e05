"""One recipe with one seed: trained unless it is, measured unless it was, and remembered beside its run."""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch

from regard.analysis.compare.cost import weights_computed
from regard.analysis.compare.pairs import Corpus
from regard.analysis.compare.plan import Plan, System
from regard.errors import DataError, RegardError, UsageError
from regard.files import write_text
from regard.folder import Folder
from regard.run import Run
from regard.tasks import Task
from regard.training import train
from regard.training.signals import Stopped


class Record(NamedTuple):
    """What is remembered of a finished run, in seed-N.json beside it; the log has the rest."""

    training_pairs: str  # fingerprints: what it learnt from and was measured on
    test_pairs: str
    metrics: dict[str, float]  # in percent
    signatures: dict[str, str]
    outputs: list[str]  # to each test source, in their order
    seconds: float  # to write them
    parameters: int
    weights_per_epoch: int
    weights_of_test: int


class Trial(NamedTuple):
    seed: int
    record: Record
    epochs: list[dict[str, Any]]  # the events of log.jsonl

    @property
    def training(self) -> float:
        """Seconds, also if that was yesterday."""
        return float(self.epochs[-1]["seconds"])


class Failure(NamedTuple):
    seed: int
    reason: str


class Call(NamedTuple):
    """What `train` takes beside recipe, seed and folder."""

    pairs: Any
    task: str
    dev: Any
    device: str
    skip_bad_lines: bool
    progress: bool


def attempt(plan: Plan, system: System, seed: int, call: Call) -> Trial | Failure:
    """A training that fails is no reason to give up the others; a wrong call or a wish to stop is."""
    try:
        return _trial(plan, system, seed, call)
    except Stopped as error:
        error.args = ("stopped; the same command goes on from here",)
        raise
    except UsageError:
        raise
    except (RegardError, torch.OutOfMemoryError) as error:
        return Failure(seed, str(error).splitlines()[0])


def _trial(plan: Plan, system: System, seed: int, call: Call) -> Trial:
    folder, corpus = system.run(seed), plan.corpus
    path = folder.path.with_name(f"{folder.path.name}.json")
    record = _remembered(path, folder, corpus)
    if record is None:
        run = train(
            call.pairs,
            task=call.task,
            out=folder.path,
            dev=call.dev,
            recipe=system.variant.recipe,
            seed=seed,
            device=call.device,
            set=system.overrides,
            resume=True,
            skip_bad_lines=call.skip_bad_lines,
            progress=call.progress,
        )
        record = _measure(run, plan.task, corpus)
        write_text(path, json.dumps(record._asdict(), ensure_ascii=False) + "\n")
    return Trial(seed, record, read_log(folder))


def _remembered(path: Path, folder: Folder, corpus: Corpus) -> Record | None:
    """The record of a finished run on these pairs; None if it has to be made, perhaps for other test pairs."""
    if not (path.exists() and folder.weights.exists() and folder.log.exists()):
        return None
    try:
        record = Record(**json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError):  # damaged: training and measuring again finds the same
        return None
    if record.training_pairs != corpus.training_fingerprint():
        raise UsageError(
            f"{folder.path} was trained on other pairs (training or dev) than these: use the same files, or another "
            "folder (-o)"
        )
    return record if record.test_pairs == corpus.test_fingerprint() else None


def _measure(run: Run, task: Task, corpus: Corpus) -> Record:
    questions = corpus.questions
    run.answer([questions[0].example])  # what the first answer loads is no part of the speed
    began = time.perf_counter()
    answers = run.answer([one.example for one in questions])
    seconds = time.perf_counter() - began
    outputs = [one.output for one in answers]
    measured = task.measure(outputs, [one.references for one in questions])
    return Record(
        corpus.training_fingerprint(),
        corpus.test_fingerprint(),
        measured.metrics,
        measured.signatures,
        outputs,
        seconds,
        run.weights_count(),
        weights_computed(run, corpus.train),
        weights_computed(run, corpus.test),
    )


def read_log(folder: Folder) -> list[dict[str, Any]]:
    """The epochs of a run, in their order."""
    try:
        events = [json.loads(line) for line in folder.log.read_text("utf-8").splitlines()]
        epochs = [event for event in events if event["event"] == "epoch"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder.log} is damaged: {error!r}; remove {folder.path} to train it again") from error
    if not epochs:
        raise DataError(f"{folder.log} tells of no epoch: remove {folder.path} to train it again")
    return epochs
