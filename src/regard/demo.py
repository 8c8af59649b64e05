"""`regard demo`: the whole story in three minutes, on data inside the package."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.demo import demo_files
from regard.data.readers import Example
from regard.files import write_text
from regard.pictures.heatmap import svg
from regard.pictures.terminal import heat_map
from regard.prediction import Prediction
from regard.run import Run
from regard.training import train

SHOWN = 3


class Result(NamedTuple):
    run: Run
    wer: float
    per: float
    seconds: float


def run_demo(out: str, seed: int, colour: bool) -> None:
    torch.set_num_threads(1)  # the model is so small that two threads mostly wait for each other
    folder = Path(out)
    files = demo_files()
    learn, test_size = _count(files.train), _count(files.test)
    click.echo(f"English spelling → sound: {learn:,} words of CMUdict to learn from, {test_size:,} to test.")
    looking = _result(folder / "attention", seed, {}, "with attention")
    blind = _result(folder / "no-attention", seed, {"model.attention": "none"}, "the same without attention")
    click.echo(_table(looking, blind))
    test = looking.run.task.read(str(files.test), looking.run.recipe).examples
    predictions = looking.run.answer(_shown(test), beam=5)
    width = min(shutil.get_terminal_size().columns, 80)
    for prediction in predictions:
        click.echo(f"\n{prediction.source} → {prediction.output}")
        click.echo(_map(prediction, width, colour))
    first = predictions[0]
    picture = folder / "attention.svg"
    title = f"{first.source} → {first.output}"
    write_text(picture, svg(_weights(first), first.output_tokens, first.source_tokens, title=title))
    click.echo(f"\nThe first one as a picture: {picture}")
    click.echo("Next, your own words, or your own pairs:")
    click.echo(f"  regard predict {folder / 'attention'} marvellous --beam 5 --nbest 3")
    click.echo(f"  regard show {folder / 'attention'} marvellous -o marvellous.html")
    click.echo("  regard train pairs.tsv --task pronounce --out runs/mine")


def _result(folder: Path, seed: int, changes: dict[str, str], name: str) -> Result:
    click.echo(f"Training {name} …", err=True)
    files = demo_files()
    run = train(
        str(files.train),
        task="pronounce",
        recipe="demo",
        out=folder,
        dev=str(files.dev),
        seed=seed,
        set=changes,
        resume=True,  # a demo that was stopped goes on; one that is done only shows its results
    )
    measured = run.evaluate(run.task.read(str(files.test), run.recipe).examples, beam=5)
    return Result(run, measured.metrics["wer"], measured.metrics["per"], _seconds(folder))


def _seconds(folder: Path) -> float:
    """What training took, also if that was yesterday."""
    last = (folder / "log.jsonl").read_text("utf-8").splitlines()[-1]
    return float(json.loads(last)["seconds"])


def _table(looking: Result, blind: Result) -> str:
    lines = ["", f"{'on unseen words':<20}{'word error':>12}{'phoneme error':>16}{'trained in':>12}"]
    for name, one in (("with attention", looking), ("without", blind)):
        lines.append(f"{name:<20}{one.wer:>10.1f} %{one.per:>14.1f} %{one.seconds:>10.0f} s")
    return "\n".join(lines)


def _map(prediction: Prediction, width: int, colour: bool) -> str:
    assert prediction.attention is not None  # the demo's model attends
    return heat_map(
        prediction.attention, prediction.output_tokens, prediction.source_tokens, width=width, colour=colour
    )


def _weights(prediction: Prediction) -> NDArray[np.float32]:
    assert prediction.attention is not None  # the demo's model attends
    return prediction.attention


def _shown(test: list[Example]) -> list[Example]:
    """The first test words long enough to be interesting; chosen by this rule, not by how well they went."""
    seen: dict[str, Example] = {}
    for example in test:
        if 7 <= len(example.source) <= 10:
            seen.setdefault(example.source, example)
    return list(seen.values())[:SHOWN]


def _count(path: Path) -> int:
    return len({line.partition("\t")[0] for line in path.read_text("utf-8").splitlines()})
