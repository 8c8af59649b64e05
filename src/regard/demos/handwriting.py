"""`regard demo handwriting`: pictures of words, rendered and bent → text; what is rendered is not real handwriting."""

from collections.abc import Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import click
import torch

from regard.data.corpora import Written
from regard.data.demo import DemoFiles, demo_files
from regard.demos.shared import BLIND, DEV, TEST, Column, Result, count, learn, pictures, screen, table
from regard.files import write_text
from regard.pictures import draw_text, save

SHOWN = 3
RECIPE = "demo-handwriting"
COUNT, HEIGHT = 3000, 48  # pictures, and pixels of each
SHORTEST, LONGEST = 3, 6  # letters of a word
FACES = 2  # fonts, at most: the fewer there are, the sooner it reads them
SEED = 1  # of the split; the package's words lie unevenly in the order of seed 0, which chose them
COLUMNS = (Column("character error", "cer"), Column("word error", "wer"))
CHANGES = {**BLIND, "model.terms": [], "model.localization": 0.0}


def run_handwriting(out: str, seed: int, colour: bool) -> None:
    torch.set_num_threads(1)  # the model is so small that two threads mostly wait for each other
    folder = Path(out)
    files = pictures(folder / "data", RECIPE, _write)
    learnt, tested = count(files.train), count(files.test)
    click.echo(f"Pictures of writing → text: {learnt:,} to learn from, {tested:,} of other texts to test.")
    click.echo("They are rendered and bent, each in another way: it is not real handwriting, which is harder to read.")
    looking = _result("with attention", files, folder / "attention", seed, {})
    blind = _result("the same without attention", files, folder / "no-attention", seed, CHANGES)
    click.echo(table("on unseen texts", COLUMNS, {"with attention": looking, "without": blind}))
    test = looking.run.task.read(str(files.test), looking.run.recipe).examples[:SHOWN]  # the first, however they went
    answers = looking.run.answer(test)
    panels = [one.panel(f"{given.target} → {one.output}") for given, one in zip(test, answers, strict=True)]
    for panel in panels:
        click.echo("\n" + draw_text([panel], kind="places", width=screen(), colour=colour))
    picture = folder / "attention.svg"
    save(panels, picture, kind="places")
    click.echo(f"\nThe same as a picture: {picture}")
    click.echo("Next, a line of yours, or your own lines:")
    click.echo(f"  regard show {folder / 'attention'} {test[0].path} --kind overlay -o letters.svg")
    click.echo("  regard data lines --text book.txt --out data/lines")
    click.echo("  regard train lines.tsv --task transcribe --out runs/mine")


def _write(folder: Path) -> Written:
    """Words in fonts of this machine; where it has none, rows of digits in strokes."""
    from regard.data.corpora.drawings import write_drawing  # this and what follows needs Pillow
    from regard.data.corpora.fonts import Font, find_fonts
    from regard.data.corpora.lines import write_lines

    fonts = [str(path) for path in find_fonts(()) if not Font(path, HEIGHT).lacks(ascii_lowercase)][:FACES]
    if not fonts:
        return write_drawing("digits", folder, count=COUNT, seed=SEED, dev=DEV, test=TEST)
    text = folder.parent / "words.txt"
    write_text(text, "\n".join(_words()) + "\n")
    return write_lines(text, folder, fonts=fonts, count=COUNT, height=HEIGHT, seed=SEED, dev=DEV, test=TEST)


def _words() -> list[str]:
    """Short ones out of all three parts of the package's words, each once."""
    lines = [line for path in demo_files() for line in path.read_text("utf-8").splitlines()]
    words = dict.fromkeys(line.partition("\t")[0] for line in lines)
    return [word for word in words if SHORTEST <= len(word) <= LONGEST and set(word) <= set(ascii_lowercase)]


def _result(name: str, files: DemoFiles, out: Path, seed: int, changes: Mapping[str, Any]) -> Result:
    return learn(name, files, out, task="transcribe", recipe=RECIPE, seed=seed, changes=changes)
