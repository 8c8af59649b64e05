"""`regard bench`: how fast this machine trains and answers, by the fast path and by the plain one in turn."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import torch

from regard.answering import Answerer
from regard.data.batching import Batch, EpochPlan
from regard.data.demo import demo_files
from regard.data.readers import Example
from regard.draft import load_draft
from regard.fast import adam
from regard.fast.kernels import library
from regard.fast.switch import plain
from regard.model import initialise
from regard.run import Run
from regard.tasks import get_task
from regard.training.learner import RULES

SIZES = {"model.embed": 128, "model.hidden": 256, "model.compare": 256, "model.readout": 256, "model.dropout": 0.2}
BATCH = 64
CLIP = 1.0
ANSWERED = 512  # sources at once; each piece of work must be short, for the paths to meet the same weather
PATHS: dict[str, Callable[[], AbstractContextManager[None]]] = {"fast": nullcontext, "plain": plain}


class Line(NamedTuple):
    """The same work by both paths; an exported run has only one."""

    name: str
    unit: str  # ms: less is better; /s: more is
    fast: float
    plain: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times faster the fast path is."""
        if self.plain is None:
            return None
        return self.plain / self.fast if self.unit == "ms" else self.fast / self.plain


class Usual(NamedTuple):
    """A model of a usual size with random weights, and what it is measured on."""

    run: Run
    examples: list[Example]
    batches: list[Batch]


def usual() -> Usual:
    """On the demo's words."""
    task, recipe = get_task("pronounce"), load_draft("pronounce").unscaled(SIZES)
    examples = task.read(str(demo_files().train), recipe).examples
    codec = task.codec(examples, recipe)
    torch.manual_seed(1)
    model = task.build(codec, recipe)
    initialise(model)
    encodings = task.encode(codec, examples)
    plan = EpochPlan(encodings, recipe.training.batch_tokens, BATCH, seed=1).batches(0)
    batches = [task.batch(encodings, numbers) for numbers in plan]
    return Usual(Run(Path("untrained"), recipe, codec, [model]), examples, batches)


def bench(seconds: float) -> list[Line]:
    """Training and answering. The weights are random, so answers would not end: they are cut at the source's length,
    which is about that of a pronunciation."""
    run, examples, batches = usual()
    (model,), task = run.models, run.task
    optimiser = RULES["adam"](model.parameters(), fused=True)

    def update(batch: Batch) -> None:
        task.loss(model.train(), batch).total.backward()
        adam.step(optimiser, CLIP)
        optimiser.zero_grad(set_to_none=True)

    spent = _in_turn([partial(update, batch) for batch in batches], seconds, PATHS)
    symbols = [int(batch.target.lengths.sum()) - len(batch.numbers) for batch in batches]  # BEGIN is not written
    rates = {
        path: sum(count for count, _ in zip(cycle(symbols), times, strict=False)) / sum(times)
        for path, times in spent.items()
    }
    model.eval()
    return [
        Line("training, symbols written a second", "/s", **rates),
        *bench_run(run, examples, seconds, longest_ratio=1.0, longest_extra=0),
    ]


def bench_run(run: Answerer, examples: list[Example], seconds: float, **limits: Any) -> list[Line]:
    """Answers of one run: many at once, and one by one."""
    paths = PATHS if isinstance(run, Run) else {"fast": nullcontext}
    many, lines = examples[:ANSWERED], []
    searches: dict[str, dict[str, int]] = (
        {"greedy": {"beam": 1}, "beam 5": {"beam": 5}} if run.writes else {"chosen": {}}
    )
    for name, search in searches.items():
        spent = _in_turn([partial(run.answer, many, **search, **limits)], seconds, paths)
        rates = {path: len(many) / statistics.median(times) for path, times in spent.items()}
        lines.append(Line(f"{name}, answers a second", "/s", **rates))
    name, search = next(iter(searches.items()))
    spent = _in_turn([partial(run.answer, [one], **search, **limits) for one in examples], seconds, paths)
    medians = {path: 1e3 * statistics.median(times) for path, times in spent.items()}
    slow = {path: 1e3 * sorted(times)[int(0.99 * len(times))] for path, times in spent.items()}
    lines.append(Line(f"one answer, {name}, median", "ms", **medians))
    lines.append(Line(f"one answer, {name}, 99 of 100 within", "ms", **slow))
    return lines


def table(lines: list[Line]) -> str:
    """For a terminal of 80 columns."""
    rows = [f"{'':<38}{'fast':>12}{'plain':>12}{'ratio':>8}"]
    for one in lines:
        numbers = [f"{value:,.0f}" if value >= 100 else f"{value:.2f}" for value in one[2:] if value is not None]
        ratio = f"{one.ratio:>7.1f}×" if one.ratio is not None else ""
        rows.append(f"{one.name:<38}" + "".join(f"{f'{number} {one.unit}':>12}" for number in numbers) + ratio)
    return "\n".join(rows)


def machine(threads: int) -> str:
    """What the numbers were measured on."""
    kernels = "kernels.c compiled" if library() is not None else "no C compiler: kernels in torch"
    return f"{_processor()}, {os.cpu_count()} cores, {threads} thread(s), torch {torch.__version__}, {kernels}"


def _in_turn(
    work: list[Callable[[], Any]], seconds: float, paths: Mapping[str, Callable[[], AbstractContextManager[None]]]
) -> dict[str, list[float]]:
    """Seconds of each piece of work by each path, over and over for about so long, after one to warm up."""
    spent: dict[str, list[float]] = {path: [] for path in paths}
    deadline = 0.0
    for number, piece in enumerate(cycle(work)):
        for path, entered in paths.items():
            with entered():
                begin = time.perf_counter()
                piece()
                spent[path].append(time.perf_counter() - begin)
        if number == 0:
            spent = {path: [] for path in paths}
            deadline = time.perf_counter() + seconds
        elif time.perf_counter() > deadline:
            break
    return spent


def _processor() -> str:
    """Its name; /proc knows more than Python does."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
