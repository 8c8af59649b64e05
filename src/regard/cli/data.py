"""`regard data`"""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.data.corpora import Written

# How an option is used, then which data sets know it
KNOWN_TO = {
    "text": ("cloze --text book.txt", "cloze", "lines"),
    "font": ("lines --text book.txt --font FILE.ttf", "lines"),
    "height": ("lines --text book.txt --height 64", "lines"),
    "count": ("shapes --count 1000", "lines", "shapes", "shapes-questions", "moves", "digits"),
    "languages": ("emoji --languages en,de", "emoji"),
}
HEIGHT = 64


@click.command(short_help="Write a data set that comes inside a package, or is made here.")
@click.argument("name")
@click.option("--out", help="Folder for train.tsv, dev.tsv and test.tsv, and for pictures.")
@click.option(
    "--text", help="With cloze and lines: the plain text that they are made of (lines: or a TSV of pictures)."
)
@click.option("--font", multiple=True, help="With lines: a font by file, folder or name; may be given again.")
@click.option("--count", type=int, help="With lines, shapes, moves and digits: how many pictures.")
@click.option("--height", type=int, help=f"With lines: height of the pictures in pixels, {HEIGHT} if not given.")
@click.option("--languages", help="With emoji: languages of the names, as in en,de.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another split, other pictures.")
def data(
    name: str,
    out: str | None,
    text: str | None,
    font: tuple[str, ...],
    count: int | None,
    height: int | None,
    languages: str | None,
    seed: int,
) -> None:
    """Write a data set as split TSV files, without leaks: one that comes inside a package, one made of a text of yours,
    or toy pictures. `regard data list` names them.

    \b
    Example:
      pip install 'regard[corpora]' && regard data cmudict --out data/cmudict
      regard data cloze --text book.txt --out data/cloze
      regard data lines --text book.txt --font 'Noto Nastaliq Urdu' --out lines
      regard data shapes --out data/shapes
    """
    if name == "list":
        _list()
        return
    if out is None:
        raise UsageError(f"where to? As in: regard data {name} --out data/{name}")
    given = {"text": text, "font": font or None, "count": count, "height": height, "languages": languages}
    _check(name, {option for option, value in given.items() if value is not None})
    written = _write(name, Path(out), seed, text, font, count, HEIGHT if height is None else height, languages)
    for path, lines in written.files.items():
        click.echo(f"{path}: {lines:,} pairs")
    for note in (*written.notes, written.credit):
        click.echo(note, err=True)


def _list() -> None:
    from regard.data.corpora import CORPORA, MADE

    for family, corpus in CORPORA.items():
        click.echo(f"{family:<24}{corpus.meaning}")
    for call, meaning in MADE.items():
        click.echo(f"{call:<24}{meaning}")


def _check(name: str, given: set[str]) -> None:
    """Options go with some data sets only; --text must be given where it goes."""
    for option, (example, *names) in KNOWN_TO.items():
        missing = option == "text" and name in names and option not in given
        if missing or (option in given and name not in names):
            also = f", and {name} with --text" if missing else f", not with {name}"
            raise UsageError(f"--{option} goes with {', '.join(names)}{also}: regard data {example} --out DIR")


def _write(
    name: str,
    out: Path,
    seed: int,
    text: str | None,
    font: tuple[str, ...],
    count: int | None,
    height: int,
    languages: str | None,
) -> "Written":
    from regard.data.corpora import write_cloze, write_corpus, write_emoji

    if name == "emoji":
        return write_emoji(out, languages=[one.strip() for one in (languages or "en").split(",")], seed=seed)
    if name == "cloze" and text:
        return write_cloze(Path(text), out, seed=seed)
    if name == "lines" and text:
        from regard.data.corpora.lines import write_lines

        return write_lines(Path(text), out, fonts=font, count=count, height=height, seed=seed)
    if name in KNOWN_TO["count"][1:]:
        from regard.data.corpora.drawings import COUNT, write_drawing

        return write_drawing(name, out, count=COUNT if count is None else count, seed=seed)
    return write_corpus(name, out, seed=seed)
