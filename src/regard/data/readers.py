"""Rows → examples: which column is what, and what makes a line bad.

| data                            | columns                              |
|---------------------------------|--------------------------------------|
| word ⇥ phones                   | Columns()                            |
| lemma ⇥ form ⇥ features         | Columns(features=3)                  |
| roman ⇥ native ⇥ count          | Columns()                            |
| a table with a header           | Columns("lemma", "form", "features") |
| {"translation": {"de":, "en":}} | Columns("de", "en")                  |
"""

import difflib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from regard.data.origin import is_sent
from regard.data.rows import STDIN, BadLine, Paths, Row, open_rows, preview, split_path
from regard.data.text import normalise
from regard.errors import DataError, UsageError


@dataclass(frozen=True, slots=True)
class Example:
    source: str
    target: str
    features: str = ""  # what is read beside the source: features of a form, a hypothesis, a question
    place: str = ""  # pairs.tsv, line 17
    where: str = ""  # what is known of the places: word links (Pharaoh), or the character where the target begins
    folder: str = ""  # of the table, from where a source that names a file is seen

    @property
    def path(self) -> str:
        """Of a source that names a file; what was sent has none and stays as it is."""
        return self.source if not self.folder or is_sent(self.source) else os.path.join(self.folder, self.source)


@dataclass(frozen=True)
class Columns:
    """Numbers count from 1; a name needs a header line.

    JSON lines need neither: a name is a key, and a number stands for the key "source", "target", "features" or
    "where".
    """

    source: str | int = 1
    target: str | int = 2
    features: str | int | None = None
    header: bool = False  # there is a header line although the columns are numbers
    where: str | int | None = None
    needs_where: bool = True  # else a row may lack it, and then nothing is known
    names_files: bool = False  # the source does, and stays as it is: a disk tells é in one character from é in two

    def __post_init__(self) -> None:
        if any(isinstance(column, int) and column < 1 for _, column in self):
            raise UsageError(f"columns are counted from 1, found {min(self._numbers)}")

    def __iter__(self) -> Iterator[tuple[str, str | int]]:
        """(role, column) of those there are."""
        yield "source", self.source
        yield "target", self.target
        if self.features is not None:
            yield "features", self.features
        if self.where is not None:
            yield "where", self.where

    @property
    def _numbers(self) -> list[int]:
        return [column for _, column in self if isinstance(column, int)]

    @property
    def named(self) -> bool:
        return any(isinstance(column, str) for _, column in self)

    @property
    def width(self) -> int:
        """How many columns a row must have at least."""
        needed = [column for role, column in self if role != "where" or self.needs_where]
        return max([column for column in needed if isinstance(column, int)], default=1)

    def numbered(self, header: Row) -> "Columns":
        """The same columns as numbers, looked up in a header line."""
        numbers = {role: _number(column, header) for role, column in self if self._is_in(header, role, column)}
        return replace(
            self,
            source=numbers["source"],
            target=numbers["target"],
            features=numbers.get("features"),
            where=numbers.get("where"),
        )

    def _is_in(self, header: Row, role: str, column: str | int) -> bool:
        """Or must be."""
        optional = role == "where" and not self.needs_where and isinstance(column, str)
        return not optional or column in [normalise(name) for name in header.cells]


class TooFew(BadLine):
    """A row has not all columns."""


class Reading(NamedTuple):
    examples: list[Example]
    skipped: list[str]  # what was wrong with each line left out
    numbers: Sequence[int] = ()  # which of all rows, those left out counted, each example was; nothing: all of them
    unwanted: int = 0  # rows left out that nothing was wrong with

    @property
    def rows(self) -> int:
        return len(self.examples) + len(self.skipped) + self.unwanted

    def wanted(self, wants: Callable[[Example], bool]) -> "Reading":
        """Without the other rows, which are not bad."""
        kept = [pair for pair in self._numbered() if wants(pair[1])]
        return self._of(kept, self.skipped, self.unwanted + len(self.examples) - len(kept))

    def sound(self, trouble: Callable[[Example], str], skip_bad_lines: bool) -> "Reading":
        """Without the rows of which `trouble` tells something, which are bad lines."""
        found = [(pair, trouble(pair[1])) for pair in self._numbered()]
        bad = [f"{one.place}: {what}" for (_, one), what in found if what]
        kept = [pair for pair, what in found if not what]
        if bad and not (skip_bad_lines and kept):
            raise DataError(f"{bad[0]} (--skip-bad-lines leaves such lines out)")
        return self._of(kept, self.skipped + bad, self.unwanted) if bad else self

    def _numbered(self) -> Iterator[tuple[int, Example]]:
        return zip(self.numbers or range(len(self.examples)), self.examples, strict=True)

    @staticmethod
    def _of(kept: Sequence[tuple[int, Example]], skipped: list[str], unwanted: int) -> "Reading":
        return Reading([one for _, one in kept], skipped, [number for number, _ in kept], unwanted)


def read_pairs(path: Paths, columns: Columns, *, lowercase: bool = False, skip_bad_lines: bool = False) -> Reading:
    """The examples of a file in its order. Blank lines do not count; a bad line stops or is skipped."""
    columns = _of_parallel(columns) if len(split_path(path)) == 2 else columns
    reading, numbers = Reading([], []), []
    with open_rows(path) as rows:
        columns, rows = _past_header(filter(_filled, rows), columns)
        for number, found in enumerate(_attempts(map(partial(_example, columns=columns, lowercase=lowercase), rows))):
            if isinstance(found, Example):
                reading.examples.append(found)
                numbers.append(number)
            elif skip_bad_lines:
                reading.skipped.append(str(found))
            else:
                raise DataError(f"{found} (--skip-bad-lines leaves such lines out)") from found
    if not reading.examples:
        raise _nothing(path, reading.skipped)
    return reading._replace(numbers=numbers) if reading.skipped else reading


def read_sources(
    path: Paths, columns: Columns | None = None, *, lowercase: bool = False, skip_bad_lines: bool = False
) -> Reading:
    """What to predict: a source a line, then features if there are such columns; or a table like in training.

    An empty line is an empty source, and so is a bad one that is skipped: the n-th example is the n-th line.
    """
    reading, columns = Reading([], []), columns or Columns()
    with open_rows(path) as rows:
        columns, rows = _past_optional_header(rows, replace(columns, target=columns.source, where=None))
        for found in _attempts(map(partial(_source, columns=columns, lowercase=lowercase), rows)):
            if isinstance(found, Example):
                reading.examples.append(found)
            elif skip_bad_lines:
                reading.examples.append(Example("", ""))  # an empty line has its place
                reading.skipped.append(str(found))
            else:
                raise found
    if not reading.examples:
        raise _nothing(path, [])
    return reading


def _attempts(examples: Iterator[Example]) -> Iterator[Example | BadLine]:
    while True:
        try:
            yield next(examples)
        except StopIteration:
            return
        except BadLine as error:
            yield error


def _nothing(path: Paths, skipped: list[str]) -> DataError:
    name = " and ".join("standard input" if part == STDIN else part for part in split_path(path))
    if skipped:
        return DataError(f"{name}: none of {len(skipped)} lines can be used; the first: {skipped[0]}")
    return DataError(f"{name} is empty; expected one example a line")


def _filled(row: Row) -> bool:
    return isinstance(row.cells, Mapping) or len(row.cells) > 1 or any(cell.strip() for cell in row.cells)


def _of_parallel(columns: Columns) -> Columns:
    if columns.features is not None:
        raise UsageError("two parallel files have no features column; expected one table with all columns")
    return Columns()


def _past_header(rows: Iterator[Row], columns: Columns) -> tuple[Columns, Iterator[Row]]:
    """The rows after the header, if there must be one, and the columns as numbers."""
    first = next(rows, None) if columns.named or columns.header else None
    if first is None:
        return columns, rows
    if isinstance(first.cells, Mapping):  # keys in every row instead
        return columns, chain([first], rows)
    return columns.numbered(first), rows


def _past_optional_header(rows: Iterator[Row], columns: Columns) -> tuple[Columns, Iterator[Row]]:
    """A plain list of sources has no header, even when the table used in training has one."""
    first = next(rows, None) if columns.named or columns.header else None
    if first is None:
        return columns, rows
    if isinstance(first.cells, Mapping):
        return columns, chain([first], rows)
    names = [normalise(cell) for cell in first.cells]
    if columns.source in names or (columns.header and not columns.named and len(names) > 1):
        return columns.numbered(first), rows
    return _bare(columns) if columns.named else columns, chain([first], rows)


def _bare(columns: Columns) -> Columns:
    """Of a list of sources, perhaps with features behind them."""
    return Columns(1, 1, None if columns.features is None else 2, names_files=columns.names_files)


def _number(column: str | int, header: Row) -> int:
    if isinstance(column, int):
        return column
    names = [normalise(name) for name in header.cells]
    if column in names:
        return names.index(column) + 1
    near = difflib.get_close_matches(column, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UsageError(f"{header.place}: the header has no column {column!r}, only {', '.join(names)}{hint}")


def _example(row: Row, columns: Columns, lowercase: bool) -> Example:
    read = partial(_text, row, columns=columns, lowercase=lowercase)
    texts = {role: read(role, column) for role, column in columns if columns.needs_where or _has(row, role, column)}
    for role in ("source", "target"):
        if not texts[role]:
            raise BadLine(f"{row.place}: the {role} is empty")
    return Example(**texts, place=row.place)


def _source(row: Row, columns: Columns, lowercase: bool) -> Example:
    if not _filled(row):
        return Example("", "", place=row.place)
    if isinstance(row.cells, list) and len(row.cells) < columns.width:
        columns = _bare(columns)
    read = partial(_text, row, columns=columns, lowercase=lowercase)
    texts = {role: read(role, column) for role, column in columns if role != "target"}
    return Example(texts["source"], "", texts.get("features", ""), row.place)


def _text(row: Row, role: str, column: str | int, columns: Columns, lowercase: bool) -> str:
    if isinstance(row.cells, Mapping):
        found = _value(row.place, row.cells, role, column)
    elif len(row.cells) < columns.width:
        raise TooFew(_too_few(row, row.cells, columns.width))
    else:
        found = row.cells[int(column) - 1]
    try:
        clean = normalise(found, lowercase and role not in ("features", "where"))
        return found.strip() if columns.names_files and role == "source" else clean
    except DataError as error:
        raise BadLine(f"{row.place}: {error}") from error


def _has(row: Row, role: str, column: str | int) -> bool:
    """Whether a row that may lack what is known of its places has it; all else it must have."""
    if role != "where":
        return True
    if isinstance(row.cells, Mapping):
        return (role if isinstance(column, int) else column) in _values(row.cells)
    return len(row.cells) >= int(column)


def _values(row: Mapping[str, Any]) -> Mapping[str, Any]:
    nested = row.get("translation")
    return {**row, **nested} if isinstance(nested, Mapping) else row


def _value(place: str, row: Mapping[str, Any], role: str, column: str | int) -> str:
    key = role if isinstance(column, int) else column
    values = _values(row)
    if key not in values:
        raise BadLine(f"{place}: there is no key {key!r}, only {', '.join(values) or 'none at all'}")
    if role in ("target", "where") and isinstance(values[key], int):  # a class, the character where an answer begins
        return str(values[key])
    if not isinstance(values[key], str):
        raise BadLine(f"{place}: {key!r} is {preview(str(values[key]))}; expected text")
    return str(values[key])


def _too_few(row: Row, cells: list[str], width: int) -> str:
    line = "\t".join(cells)
    found = f"expected at least {width} {row.separator}-separated columns, found {len(cells)} ({preview(line)})"
    if len(cells) > 1:
        found += "; `regard recipes TASK` tells which columns are read (options that end in _column)"
    elif row.separator == "tab" and "," in line:
        found += "; if commas separate the columns, name the file .csv"
    elif row.separator == "tab" and " " in line:
        found += "; put a tab, not spaces, between the columns"
    return f"{row.place}: {found}"
