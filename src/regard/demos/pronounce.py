"""`regard demo`: English spelling → sound in three minutes, on data inside the package."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.demo import DemoFiles, demo_files
from regard.data.readers import Example
from regard.demos.shared import BLIND, Column, Result, learn, screen, table
from regard.files import write_text
from regard.pictures.heatmap import svg
from regard.pictures.terminal import heat_map
from regard.prediction import Prediction

SHOWN = 3
COLUMNS = (Column("word error", "wer"), Column("phoneme error", "per"))


def run_demo(out: str, seed: int, colour: bool) -> None:
    torch.set_num_threads(1)  # the model is so small that two threads mostly wait for each other
    folder = Path(out)
    files = demo_files()
    learnt, tested = _count(files.train), _count(files.test)
    click.echo(f"English spelling → sound: {learnt:,} words of CMUdict to learn from, {tested:,} to test.")
    looking = _result("with attention", files, folder / "attention", seed, {})
    blind = _result("the same without attention", files, folder / "no-attention", seed, BLIND)
    click.echo(table("on unseen words", COLUMNS, {"with attention": looking, "without": blind}))
    test = looking.run.task.read(str(files.test), looking.run.recipe).examples
    predictions = looking.run.answer(_shown(test))
    for prediction in predictions:
        click.echo(f"\n{prediction.source} → {prediction.output}")
        click.echo(_map(prediction, colour))
    first = predictions[0]
    picture = folder / "attention.svg"
    title = f"{first.source} → {first.output}"
    write_text(picture, svg(_weights(first), first.output_tokens, first.source_tokens, title=title))
    click.echo(f"\nThe first one as a picture: {picture}")
    click.echo("Next, your own words, or your own pairs:")
    click.echo(f"  regard predict {folder / 'attention'} marvellous --beam 5 --nbest 3")
    click.echo(f"  regard show {folder / 'attention'} marvellous -o marvellous.html")
    click.echo("  regard train pairs.tsv --task pronounce --out runs/mine")


def _result(name: str, files: DemoFiles, out: Path, seed: int, changes: Mapping[str, Any]) -> Result:
    return learn(name, files, out, task="pronounce", recipe="demo", seed=seed, changes=changes)


def _map(prediction: Prediction, colour: bool) -> str:
    tokens = prediction.output_tokens, prediction.source_tokens
    return heat_map(_weights(prediction), *tokens, width=screen(), colour=colour)


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
