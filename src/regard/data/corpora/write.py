"""One corpus → a folder of split TSV files and a README that says where they come from."""

import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from regard.data.corpora.about import About
from regard.data.corpora.package import contents
from regard.data.corpora.split import Row, Split, split
from regard.data.corpora.table import find_corpus
from regard.errors import DataError, RegardError, UsageError
from regard.files import write_text

README = "README.txt"

Files = Iterator[tuple[str, bytes]]  # path inside the folder, content


class Written(NamedTuple):
    folder: Path
    files: dict[str, int]  # file name → lines in it
    credit: str  # one line: who made the data, under which licence
    notes: tuple[str, ...] = ()  # what else is to be known: fonts that were found, lines that were left out


def write_corpus(
    name: str, out: Path, *, seed: int = 0, dev: float = 0.05, test: float = 0.05, single_words: bool = False
) -> Written:
    """Write train.tsv, dev.tsv and test.tsv (source, tab, target; no header) into the folder `out`.

    `dev` and `test` are shares of the keys. `single_words` keeps names of one word only (transliteration).
    """
    corpus, variant = find_corpus(name)
    if single_words and corpus.task != "transliterate":
        raise UsageError(f"single words can be picked from corpora of names (pycountry, geonames), not from {name}")
    check_target(name, out, dev, test)
    rows = corpus.read(contents(corpus.package), variant)
    if single_words:
        rows = (row for row in rows if " " not in row.source + row.target)
    return write_rows(name, corpus.about, rows, out, seed=seed, dev=dev, test=test)


def write_rows(
    name: str,
    about: About,
    rows: Iterable[Row],
    out: Path,
    *,
    seed: int,
    dev: float,
    test: float,
    pictures: Files | None = None,
) -> Written:
    """Split the rows and write them, with a README; before them the pictures that they name."""
    parts = split(rows, seed=seed, dev=dev, test=test)
    if not all(parts):
        raise DataError(f"{name} is too small for three parts of these shares: {', '.join(_sizes(parts))}")
    _make_folder(out)
    write_text(out / README, _readme(name, about, parts, seed))  # first, so that a second try knows the folder
    if pictures is not None:
        _write_pictures(out, pictures)
    return Written(out, _write_parts(out, parts), f"{about.credit}; {about.licence}")


def _write_pictures(out: Path, pictures: Files) -> None:
    """Thousands of small files: they are brought to the disk together, not one by one, which would take a minute.

    Where there is a table, there are its pictures: an earlier one goes first, the new one comes last.
    """
    try:
        for part in Split._fields:
            (out / f"{part}.tsv").unlink(missing_ok=True)
        for path, content in pictures:
            (out / path).parent.mkdir(exist_ok=True)
            (out / path).write_bytes(content)
        os.sync()
    except OSError as error:
        raise RegardError(f"cannot write pictures into {out}: {error.strerror or error}") from error


def _write_parts(out: Path, parts: Split) -> dict[str, int]:
    """TSV for every part, and beside it the links of the same lines where the corpus has them."""
    files: dict[str, int] = {}
    for part, rows in _named(parts):
        write_text(out / f"{part}.tsv", "".join(map(_line, rows)))
        files[f"{part}.tsv"] = len(rows)
        if _has_links(parts):
            write_text(out / f"{part}.pharaoh", "".join(f"{row.links}\n" for row in rows))
            files[f"{part}.pharaoh"] = len(rows)
    return files


def _line(row: Row) -> str:
    return "\t".join([row.source, row.target, row.features] if row.features else [row.source, row.target]) + "\n"


def _named(parts: Split) -> list[tuple[str, list[Row]]]:
    return list(zip(parts._fields, parts, strict=True))


def _has_links(parts: Split) -> bool:
    return any(row.links for row in parts.train)


def _sizes(parts: Split) -> list[str]:
    return [f"{part} {len(rows):,} rows ({_keys(rows):,} keys)" for part, rows in _named(parts)]


def _keys(rows: list[Row]) -> int:
    return sum(1 for _ in groupby(rows, key=lambda row: row.key))  # rows of a key are neighbours


def check_target(name: str, out: Path, dev: float, test: float) -> None:
    """That there is room for three parts, in a folder that is new or holds an earlier copy."""
    if not (dev > 0 and test > 0 and dev + test < 1):
        raise UsageError(f"dev={dev} and test={test} leave no room: both above 0, together below 1")
    _check_folder(name, out)


def _check_folder(name: str, out: Path) -> None:
    """Write over nothing but an earlier copy of the same corpus."""
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"{out} is a file, not a folder")
    try:
        readme = out / README
        ours = readme.is_file() and readme.read_text("utf-8", "replace").startswith(_headline(name))
        if not ours and any(out.iterdir()):
            raise UsageError(f"{out} is not empty and does not hold {name}: choose another folder")
    except OSError as error:
        raise RegardError(f"cannot read {out}: {error.strerror or error}") from error


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RegardError(f"cannot create {out}: {error.strerror or error}") from error


def _headline(name: str) -> str:
    return f"corpus: {name}\n"


def _readme(name: str, about: About, parts: Split, seed: int) -> str:
    sizes = "\n".join(f"  {size}" for size in _sizes(parts))
    links = "\nThe .pharaoh files hold the links of the same lines: 0-2 is source word 0 with target word 2.\n"
    return (
        f"{_headline(name)}"
        f"{about.meaning}; task {about.task}\n"
        f"source: {about.source}\n"
        f"credit: {about.credit}\n"
        f"licence: {about.licence}\n\n"
        f"Columns: {about.columns}; UTF-8, NFC, no header, no line twice under one key. A source with several targets\n"
        f"has several lines.\n\n"
        f"{sizes}\n\n"
        f"Split by {about.key}, never one on two sides: by a hash of it and the seed {seed}. Lines are in\n"
        f"the order of that hash, so the first thousand are a fair sample.\n"
        f"{links if _has_links(parts) else ''}"
    )
