"""One part of the race, measured in a process of its own: train, learn, greedy, beam or single. Prints a JSON line."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from toolkits.clock import Clock
from toolkits.sizes import BATCH, BEAM, LEARN_BATCH, SINGLES, Size, size_of

Answer = Callable[[list[str]], list[str]]


class Job(NamedTuple):
    part: str
    size: Size
    threads: int
    data: Path  # folder of the corpus
    model: Path  # folder of the model, to be written or read

    @property
    def pairs(self) -> Path:
        """Training pairs; .src, .trg or .tsv is to be added."""
        return self.data / ("learn" if self.part == "learn" else "train")

    @property
    def batch(self) -> int:
        return LEARN_BATCH if self.part == "learn" else BATCH

    @property
    def epochs(self) -> int:
        return self.size.learn_epochs if self.part == "learn" else 1

    @property
    def beam(self) -> int:
        return BEAM if self.part == "beam" else 1


def main(
    train: Callable[[Job, Clock], None], load: Callable[[Job], Answer], size: Callable[[Path], int] | None = None
) -> None:
    """A toolkit's functions: `train` holds the clock around its training, `load` gives what answers sources, `size`
    says how many bytes a model's folder has for that."""
    part, name, quick, threads, data, model = json.loads(sys.argv[1])
    job = Job(part, size_of(name, quick), threads, Path(data), Path(model))
    clock = Clock()
    measured: dict[str, float] = {}
    if part in ("train", "learn"):
        train(job, clock)
    else:
        lines = (job.data / "test.src").read_text("utf-8").splitlines()
        answer = load(job)
        answer(lines[:BATCH])  # warm
        if part == "single":
            clock.wall = statistics.median(_seconds(answer, line) for line in lines[:SINGLES])
        else:
            clock.start()
            answers = answer(lines)
            clock.stop()
            if size is not None:
                measured["bytes"] = size(job.model)
            measured["symbols"] = statistics.mean(len(one.split()) for one in answers)
    print(json.dumps({"wall": clock.wall, "cpu": clock.cpu, **measured}))


def _seconds(answer: Answer, line: str) -> float:
    begin = time.perf_counter()
    answer([line])
    return time.perf_counter() - begin
