"""What `regard predict` reads and prints: sources from the call, a file or stdin; answers as text, JSON or a map."""

import json
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from regard.errors import DataError, UsageError

if TYPE_CHECKING:
    from regard.answering import Answerer
    from regard.data.readers import Reading
    from regard.prediction import Prediction


def sources(
    run: "Answerer", text: tuple[str, ...], file: str | None, features: str, skip_bad_lines: bool = False
) -> "Reading":
    """The examples that a call of `regard predict` asks about, in their order; empty lines stay empty, and bad ones are
    so if they are skipped."""
    from regard.data.readers import Columns, Reading, read_sources

    if text and file:
        raise UsageError("give TEXT or --input, not both")
    if features and not run.codec.features:
        raise UsageError("this run reads nothing beside its source: it was trained without data.features_column")
    if features and not text:
        raise UsageError("--features goes with TEXT; in a file, they stand in the column after the source")
    if text:
        texts = [f"{one}\t{features}" if features else one for one in text]
        return Reading([run.example(one, f"TEXT {number}") for number, one in enumerate(texts, 1)], [])
    if file is None and sys.stdin.isatty():
        raise UsageError("nothing to answer: give TEXT, --input FILE, or lines on standard input")
    data = run.recipe.data  # of a table like that of training the same columns; else source, then what is beside it
    column = run.source_column(file or "-")
    beside = data.features_column if run.codec.features else None
    columns = Columns(column, column, beside, names_files=run.codec.opens_files)
    read = read_sources(file or "-", columns, lowercase=run.codec.lowercase, skip_bad_lines=skip_bad_lines)
    folder = os.path.dirname(file) if file and file != "-" else ""  # files that it names lie beside it
    read = read._replace(examples=[replace(one, folder=folder) for one in read.examples])
    empty = [one.place for one in read.examples if not one.source and one.place]  # bad ones that are skipped have none
    if len(empty) == len(read.examples):
        raise DataError(f"{file or 'standard input'} holds only empty lines; expected one source a line")
    if empty:
        click.echo(f"{len(empty)} empty lines are answered by empty lines; the first: {empty[0]}", err=True)
    return read


def spared(run: "Answerer", read: "Reading", asked: list[bool]) -> list[bool]:
    """Which of the examples that are asked about can be read; the others, and bad lines, are counted on stderr."""
    troubles = [run.trouble(example) if one else "" for example, one in zip(read.examples, asked, strict=True)]
    found = [(one.place, trouble) for one, trouble in zip(read.examples, troubles, strict=True) if trouble]
    bad = read.skipped + [trouble if place in trouble else f"{place}: {trouble}" for place, trouble in found]
    if len(found) == sum(asked):
        raise DataError(f"no line can be read; the first: {bad[0]}")
    if bad:
        are = (
            "1 bad line is answered by an empty one"
            if len(bad) == 1
            else (f"{len(bad)} bad lines are answered by empty lines; the first")
        )
        click.echo(f"{are}: {bad[0]}", err=True)
    return [one and not trouble for one, trouble in zip(asked, troubles, strict=True)]


class Remarks:
    """What a reader of the answers should know, gathered while they come."""

    def __init__(self) -> None:
        self.unknown: set[str] = set()  # symbols
        self.strange = self.long = self.cut = 0  # sources with such symbols, too long ones, answers without an end
        self.left_out = 0  # symbols, of the longest

    def note(self, one: "Prediction") -> None:
        self.unknown.update(one.unknown)
        self.strange += bool(one.unknown)
        self.long += one.left_out > 0
        self.left_out = max(self.left_out, one.left_out)
        self.cut += not one.finished

    def say(self) -> None:
        """On stderr."""
        if self.strange:
            shown = " ".join(sorted(self.unknown)[:10]) + (" …" if len(self.unknown) > 10 else "")
            hold = "1 source holds" if self.strange == 1 else f"{self.strange} sources hold"
            click.echo(f"{hold} symbols never seen in training, read as unknown: {shown}", err=True)
        if self.long:
            are = "1 source is" if self.long == 1 else f"{self.long} sources are"
            click.echo(f"{are} longer than this run reads; up to {self.left_out:,} symbols were left out", err=True)
        if self.cut:
            click.echo(f"{self.cut} answers reached the length limit before they ended", err=True)


def print_prediction(number: int, one: "Prediction | None", nbest: int, as_json: bool, attention: bool) -> None:
    """One answer on stdout; None is the answer to an empty or bad line."""
    if as_json:
        empty = {
            "source": "",
            "output": "",
            "score": 0.0,
            "source_tokens": [],
            "output_tokens": [],
            "attention": [],
        }
        click.echo(json.dumps(one.to_dict() if one else empty, ensure_ascii=False))
    elif one is None:
        click.echo("")
    elif nbest:
        for each in one.nbest:
            click.echo(f"{number}\t{each.output}\t{each.score:.4f}")
    else:
        click.echo(one.output)
    if attention and one is not None and one.attention is not None and not as_json:
        from regard.pictures import draw_text

        click.echo(draw_text(one.panels(""), colour=colour()))


def colour() -> bool:
    """Whether whoever reads stdout wants colour."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
