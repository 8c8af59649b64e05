"""`regard demo caption`: pictures of emoji → their names in several languages, out of packages alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import torch

from regard.data.corpora import Written, write_emoji
from regard.data.corpora.emoji import LANGUAGES, characters, check_languages
from regard.data.demo import DemoFiles
from regard.data.readers import Example
from regard.demos.shared import BLIND, DEV, TEST, Column, Result, count, learn, pictures, screen, table
from regard.pictures import Panel, draw_text, save

SHOWN = 3
RECIPE = "demo-caption"
COLUMNS = (Column("BLEU-1", "bleu1", ""), Column("ROUGE-L", "rougeL", ""), Column("CIDEr", "cider", "", 2))
CHANGES = {**BLIND, "model.gate": False}


class Shown(NamedTuple):
    """An emoji with its name in each language."""

    path: str
    names: Sequence[str]


def run_caption(out: str, seed: int, languages: Sequence[str], colour: bool) -> None:
    torch.set_num_threads(1)  # the models are so small that two threads mostly wait for each other
    check_languages(languages)
    folder = Path(out)
    files = pictures(folder / "data", RECIPE, _write)
    told = f"Emoji → their names ({', '.join(languages)})"
    click.echo(f"{told}: {count(files.train):,} pictures to learn from, {count(files.test):,} to test.")
    click.echo("What differs in skin, sex or direction only is on one side: no test picture has a twin in training.")
    looking = {one: _result(one, files, folder / one, seed, one, {}) for one in languages}
    first = languages[0]
    name = f"{first}, no attention"
    blind = _result(name, files, folder / f"{first}-no-attention", seed, first, CHANGES)
    click.echo(table("on unseen emoji", COLUMNS, {**looking, name: blind}))
    click.echo("The name of an unseen emoji can often not be guessed: who could tell the country of a flag never seen?")
    panels = _panels(_shown(files.test, languages), looking)
    for panel in panels:
        click.echo("\n" + draw_text([panel], kind="overlay", width=screen(), colour=colour))
    picture = folder / "attention.svg"
    save(panels, picture, kind="overlay", across=len(languages))
    click.echo(f"\nThe same as a picture: {picture}")
    click.echo("Next, a picture of yours, or your own captions:")
    click.echo(f"  regard predict {folder / first} picture.png --beam 5 --nbest 3")
    click.echo(f"  regard show {folder / first} picture.png -o picture.svg")
    click.echo("  regard train captions.tsv --task caption --out runs/mine")


def _write(folder: Path) -> Written:
    """Names in all languages, so that the data is the same whichever are asked for."""
    return write_emoji(folder, languages=LANGUAGES, tones=False, dev=DEV, test=TEST)


def _result(name: str, files: DemoFiles, out: Path, seed: int, language: str, changes: Mapping[str, Any]) -> Result:
    column = {"data.target_column": _column(language)}
    return learn(name, files, out, task="caption", recipe=RECIPE, seed=seed, changes={**column, **changes})


def _column(language: str) -> int:
    """Of the table, counted from 1; before the names stands the picture."""
    return 2 + LANGUAGES.index(language)


def _shown(test: Path, languages: Sequence[str]) -> list[Shown]:
    """The first test pictures whose English name has two to four words; chosen by this rule, not by how well they
    went."""
    rows = [line.split("\t") for line in test.read_text("utf-8").splitlines()]
    chosen = [row for row in rows if 2 <= len(row[_column("en") - 1].split()) <= 4][:SHOWN]
    return [Shown(str(test.parent / row[0]), [row[_column(one) - 1] for one in languages]) for row in chosen]


def _panels(shown: Sequence[Shown], looking: Mapping[str, Result]) -> list[Panel]:
    """Emoji by emoji, in each language."""
    answered = [
        result.run.answer([Example(one.path, "") for one in shown]) for result in looking.values()
    ]  # language by language
    return [
        prediction.panel(f"{characters(one.path)} {language}: {prediction.output} (its name: {name})")
        for one, predictions in zip(shown, zip(*answered, strict=True), strict=True)
        for language, name, prediction in zip(looking, one.names, predictions, strict=True)
    ]
