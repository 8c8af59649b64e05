"""What the demos share: train or go on, measure on what was held back, a table, and how wide a terminal is."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from regard.data.corpora import Written
from regard.data.demo import DemoFiles
from regard.draft import load_draft
from regard.folder import Folder
from regard.run import Run
from regard.tasks.eyes import frozen_network
from regard.training import train

BLIND: Mapping[str, Any] = {"model.attention": "none", "model.query": "previous"}
WIDEST = 80
DEV, TEST = 0.05, 0.1  # shares of pictures that are held back


class Result(NamedTuple):
    run: Run
    metrics: Mapping[str, float]  # on the test part
    seconds: float


class Column(NamedTuple):
    name: str
    metric: str
    unit: str = " %"
    digits: int = 1

    @property
    def width(self) -> int:
        return len(self.name) + 2

    def cell(self, value: float) -> str:
        return f"{value:>{self.width - len(self.unit)}.{self.digits}f}{self.unit}"


TIME = Column("trained in", "", " s", 0)


def learn(
    name: str, files: DemoFiles, out: Path, *, task: str, recipe: str, seed: int, changes: Mapping[str, Any]
) -> Result:
    """Train, and measure on the test part; a demo that was stopped goes on, one that is done only shows its results."""
    click.echo(f"Training {name} …", err=True)
    run = train(files.train, task=task, recipe=recipe, out=out, dev=files.dev, seed=seed, set=changes, resume=True)
    return Result(run, run.evaluate(run.task.read(str(files.test), run.recipe).examples).metrics, _seconds(out))


def _seconds(folder: Path) -> float:
    """What training took, also if that was yesterday."""
    last = (folder / "log.jsonl").read_text("utf-8").splitlines()[-1]
    return float(json.loads(last)["seconds"])


def table(measured_on: str, columns: Sequence[Column], results: Mapping[str, Result]) -> str:
    """A row a result, by its name."""
    side = max(20, *(len(name) + 2 for name in results))
    lines = ["", f"{measured_on:<{side}}" + "".join(f"{one.name:>{one.width}}" for one in (*columns, TIME))]
    for name, result in results.items():
        cells = [column.cell(result.metrics[column.metric]) for column in columns]
        lines.append(f"{name:<{side}}" + "".join([*cells, TIME.cell(result.seconds)]))
    return "\n".join(lines)


def screen() -> int:
    return min(shutil.get_terminal_size().columns, WIDEST)


def pictures(folder: Path, recipe: str, write: Callable[[Path], Written]) -> DemoFiles:
    """Tables of pictures, as `regard data` writes them; once: where the last table is, everything is.

    If the package with the weights of the recipe's encoder is missing, that is told before anything is written.
    """
    frozen_network(load_draft(recipe).unscaled({}).look.encoder)
    Folder(folder.parent).make()
    files = DemoFiles(folder / "train.tsv", folder / "dev.tsv", folder / "test.tsv")
    if not files.test.exists():
        click.echo("Writing the pictures …", err=True)
        for note in write(folder).notes:
            click.echo(note, err=True)
    return files


def count(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())
