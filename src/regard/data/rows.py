"""Any file → rows: tab-separated, CSV, JSON lines, parallel files, standard input, gzip, hub data sets.

A row that cannot be read raises BadLine, and the same iterator goes on after it; therefore rows are maps over
lines and not generators, which an exception would end. Lines end at \\n and nowhere else: other characters
that Unicode calls line breaks may stand inside a text.
"""

import csv
import difflib
import gzip
import json
import os
import sys
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import DataError, MissingExtra, UsageError

STDIN, HUB = "-", "hf:"
LONGEST_FIELD = 2**24  # characters between two commas; Python's own limit is 2**17
Paths = str | os.PathLike[str] | Sequence[str]


class BadLine(DataError):
    """One line cannot be used; the others may."""


class Row(NamedTuple):
    place: str  # pairs.tsv, line 17
    cells: list[str] | Mapping[str, Any]  # columns of a table, or keys and values
    separator: str = "tab"


class Line(NamedTuple):
    place: str
    content: bytes

    def text(self) -> str:
        try:
            return self.content.decode("utf-8-sig").rstrip("\r\n")
        except UnicodeDecodeError as error:
            byte = self.content[error.start]
            utf16 = " (it looks like UTF-16)" if b"\0" in self.content else ""
            raise BadLine(
                f"{self.place}: byte {error.start + 1} (0x{byte:02x}) is not valid UTF-8{utf16}; "
                "convert the file to UTF-8"
            ) from error


@contextmanager
def open_rows(path: Paths) -> Iterator[Iterator[Row]]:
    """Rows of a file, of parallel files ("a.de,a.en" or a pair of paths), of "-", or of "hf:name:split"."""
    first, *second = split_path(path)
    if first.startswith(HUB):
        yield _hub_rows(first)
        return
    with closing(read_lines(first)) as lines:
        if not second:
            yield _rows(first, lines)
            return
        with closing(read_lines(second[0])) as others:
            yield map(_parallel_row, _parallel_lines(first, lines, second[0], others))


def _rows(path: str, lines: Iterator[Line]) -> Iterator[Row]:
    ending = Path(path.lower().removesuffix(".gz")).suffix
    if ending == ".csv":
        return _CsvRows(lines)
    return map(_json_row if ending == ".jsonl" else _tsv_row, lines)


def split_path(path: Paths) -> list[str]:
    """One path, or the two of parallel files."""
    if isinstance(path, str | os.PathLike):
        path = os.fspath(path)
        together = path.startswith(HUB) or "," not in path or os.path.exists(path)
        path = [path] if together else path.split(",")
    if len(path) not in (1, 2):
        raise UsageError(f"expected one file or two parallel files, found {len(path)}: {', '.join(path)}")
    return list(path)


def read_lines(path: str) -> Generator[Line, None, None]:
    """Lines of a file, gunzipped when its name ends in .gz; or of standard input."""
    name = "standard input" if path == STDIN else path
    try:
        with _open(path) as stream:
            for number, content in enumerate(stream, 1):
                yield Line(f"{name}, line {number}", content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path} is not a whole gzip file: {error}; download or compress it again") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error


def _open(path: str) -> Any:
    if path == STDIN:
        return nullcontext(sys.stdin.buffer)  # not ours to close
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder; expected a file, such as {os.path.join(path, 'train.tsv')}")
    if not os.path.exists(path):
        raise UsageError(f"there is no file {path}{_neighbours(path)}")
    return gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb")


def _neighbours(path: str) -> str:
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        return f"; there is no folder {folder} either"
    near = difflib.get_close_matches(name, os.listdir(folder or "."), n=3)
    return f"; did you mean {' or '.join(os.path.join(folder, other) for other in near)}?" if near else ""


def _tsv_row(line: Line) -> Row:
    return Row(line.place, line.text().split("\t"))


def _json_row(line: Line) -> Row:
    text = line.text()
    if not text.strip():
        return Row(line.place, [])
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"{line.place}: not a JSON object ({error}): {preview(text)}") from error
    if not isinstance(found, dict):
        raise BadLine(f'{line.place}: expected a JSON object such as {{"source": …}}, found {preview(text)}')
    return Row(line.place, found)


class _CsvRows:
    """Records with quoted fields, which may hold commas and line ends.

    A quote that is never closed would take all lines after it with it: its line is bad, and the next is read anew.
    """

    def __init__(self, source: Iterator[Line]):
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
        self._record: list[Line] = []  # lines of the record that is being read, which is named by its first one
        self._begin(source)

    def _begin(self, source: Iterator[Line]) -> None:
        self._source = source
        self._reader = csv.reader(map(self._text, source), strict=True)

    def _text(self, line: Line) -> str:
        self._record.append(line)
        return line.text() + "\n"

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        self._record = []
        try:
            cells = next(self._reader)
        except csv.Error as error:
            first, *others = self._record
            if others:
                self._begin(chain(others, self._source))
            raise BadLine(f"{first.place}: not valid CSV ({error}); check the quotes") from error
        return Row(self._record[0].place, cells, "comma")


def _parallel_lines(
    first: str, lines: Iterator[Line], second: str, others: Iterator[Line]
) -> Iterator[tuple[Line, Line]]:
    counts = [0, 0]
    for pair in zip_longest(lines, others):
        counts = [count + (line is not None) for count, line in zip(counts, pair, strict=True)]
        if counts[0] == counts[1]:
            yield pair
    if counts[0] != counts[1]:
        raise DataError(
            f"parallel files must have equally many lines: {first} has {counts[0]}, {second} has {counts[1]}"
        )


def _parallel_row(pair: tuple[Line, Line]) -> Row:
    return Row(f"{pair[0].place} and {pair[1].place}", [line.text() for line in pair])


def _hub_rows(path: str) -> Iterator[Row]:
    """Rows of hf:name, hf:name:split or hf:name:configuration:split."""
    try:
        import datasets
    except ImportError as error:
        raise MissingExtra("datasets", "datasets") from error
    name, *configuration = path.removeprefix(HUB).split(":")
    split = configuration.pop() if configuration else "train"
    if not name or len(configuration) > 1:
        raise UsageError(f"expected hf:NAME, hf:NAME:SPLIT or hf:NAME:CONFIGURATION:SPLIT, found {path}")
    try:
        found = datasets.load_dataset(name, *configuration, split=split)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot load the data set {name} (split {split}): {error}") from error
    return (Row(f"{path}, row {number}", row) for number, row in enumerate(found, 1))


def preview(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
