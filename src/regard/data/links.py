"""Word links, and the three forms in which files hold them: a line a pair, a link an item.

| form    | sure link      | possible link  | the first word is |
|---------|----------------|----------------|-------------------|
| pharaoh | `0-2`          | `0?2`, `0p2`   | 0                 |
| talp    | `1-3`, `1S3`   | `1P3`          | 1                 |
| json    | `{"links": [[0, 2]]}` | `{"possible": [[0, 2]]}` | 0       |

The number of the source word always stands first. An empty line is a pair without links. Beside an example links are
kept in the first form.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from regard.data.readers import Example, Reading
from regard.data.words import Word
from regard.errors import DataError, UsageError


class Link(NamedTuple):
    """Places of two words, counted from 0."""

    source: int
    target: int


class Links(NamedTuple):
    """S and P of one pair: what must be linked, and what may be (Och and Ney 2003). S is part of P."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    @classmethod
    def of(cls, sure: Iterable[tuple[int, int]], possible: Iterable[tuple[int, int]] = ()) -> "Links":
        certain = frozenset(Link(*one) for one in sure)
        return cls(certain, certain | {Link(*one) for one in possible})


class Form(Protocol):
    def read(self, line: str) -> Links: ...  # ValueError says what is wrong

    def write(self, links: Links) -> str: ...


class Items(NamedTuple):
    """Links with a space between them: number, mark, number."""

    first: int  # number of the first word
    sure: str  # marks; the first one is written
    possible: str
    example: str

    def read(self, line: str) -> Links:
        found: tuple[list[Link], list[Link]] = [], []
        for item in line.split():
            parts = re.fullmatch(rf"([0-9]{{1,9}})([{re.escape(self.sure + self.possible)}])([0-9]{{1,9}})", item)
            if parts is None:
                raise ValueError(f"{item[:40]!r} is no link; expected such as {self.example}")
            source, target = int(parts[1]) - self.first, int(parts[3]) - self.first
            if min(source, target) < 0:
                raise ValueError(f"{item!r} has a word 0, but words are counted from 1 here; is this pharaoh?")
            found[parts[2] in self.possible].append(Link(source, target))
        return Links.of(*found)

    def write(self, links: Links) -> str:
        marks = {link: self.sure[0] if link in links.sure else self.possible[0] for link in sorted(links.possible)}
        return " ".join(f"{i + self.first}{mark}{j + self.first}" for (i, j), mark in marks.items())


KEYS = {"links", "possible", "source", "target", "weights"}  # as `regard align --format json` writes them


class Objects:
    """A JSON object a line."""

    def read(self, line: str) -> Links:
        content = json.loads(line or "{}")
        if not isinstance(content, dict):
            raise ValueError(f'{line[:40]!r} is no object; expected such as {{"links": [[0, 2]]}}')
        odd = sorted(set(content) - KEYS)
        if odd:
            raise ValueError(f"{odd[0]!r} is no key; expected {', '.join(sorted(KEYS))}")
        return Links.of(_pairs(content, "links"), _pairs(content, "possible"))

    def write(self, links: Links) -> str:
        return json.dumps(self.content(links))

    def content(self, links: Links) -> dict[str, list[list[int]]]:
        maybe = sorted(links.possible - links.sure)
        content = {"links": [list(link) for link in sorted(links.sure)]}
        return content | ({"possible": [list(link) for link in maybe]} if maybe else {})


def _pairs(content: dict[str, Any], key: str) -> list[Link]:
    pairs = content.get(key, [])
    whole = isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
    if not whole or not all(type(number) is int and number >= 0 for pair in pairs for number in pair):
        raise ValueError(f"{key!r} is {str(pairs)[:40]}; expected pairs of places from 0, such as [[0, 2]]")
    return [Link(*pair) for pair in pairs]


FORMS: dict[str, Form] = {
    "pharaoh": Items(0, "-", "?p", "0-2, or 0?2 for a possible one"),
    "talp": Items(1, "-Ss", "Pp", "1-3 or 1S3, or 1P3 for a possible one"),
    "json": Objects(),
}
ENDINGS = {".talp": "talp", ".json": "json", ".jsonl": "json"}


class Size(NamedTuple):
    """How many words the two sides of a pair have."""

    source: int
    target: int


def read_links(path: str | Path, sizes: Sequence[Size], form: str | None = None) -> list[Links]:
    """The links of each pair, in the order of the pairs; the form is told by the file's ending unless it is given."""
    found = _read(path, len(sizes), form)
    for number, (links, size) in enumerate(zip(found, sizes, strict=True), 1):
        try:
            _check(links, size)
        except ValueError as error:
            raise DataError(f"{path}, line {number}: {error}") from error
    return found


def join_links(reading: Reading, path: str | Path) -> list[Example]:
    """The examples that were read, each with its links; the file has a line for every row, those left out too."""
    numbers = reading.numbers or range(len(reading.examples))
    found = _read(path, reading.rows)
    texts = [FORMS["pharaoh"].write(found[number]) for number in numbers]
    return [replace(example, where=text) for example, text in zip(reading.examples, texts, strict=True)]


def trouble(example: Example) -> str:
    """What is wrong with how its links are written; "" if nothing is."""
    try:
        FORMS["pharaoh"].read(example.where)
    except ValueError as error:
        return str(error)
    return ""


def symbol_links(text: str, source: Sequence[Word], target: Sequence[Word]) -> tuple[tuple[int, int], ...]:
    """Sure links of words (pharaoh) → (t, j) of all symbols of the one word and all of the other."""
    links = FORMS["pharaoh"].read(text)
    _check(links, Size(len(source), len(target)))
    pairs = [(t, j) for i, k in links.sure for t in target[k].symbols for j in source[i].symbols]
    return tuple(sorted(pairs))


def _read(path: str | Path, pairs: int, form: str | None = None) -> list[Links]:
    form = form or ENDINGS.get(Path(path).suffix.lower(), "pharaoh")
    lines = _lines(path)
    if len(lines) != pairs:
        raise DataError(
            f"{path} has {len(lines):,} lines for {pairs:,} pairs; expected a line for each pair, "
            "an empty one where nothing is linked"
        )
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(FORMS[form].read(line))
        except ValueError as error:
            raise DataError(f"{path}, line {number}, read as {form}: {error}") from error
    if not any(links.possible for links in found):
        raise DataError(f"{path} holds no links at all; expected such as 0-0 1-2 in most lines")
    return found


def _check(links: Links, size: Size) -> None:
    for link in sorted(links.possible):
        for side, place, count in zip(("source", "target"), link, size, strict=True):
            if place >= count:
                raise ValueError(
                    f"a link leads to {side} word {place + 1}, but that side has {count}; are the sides swapped, the "
                    "lines of another file, or the words cut in another way (of `regard align`, see --level)?"
                )


def _lines(path: str | Path) -> list[str]:
    try:
        text = Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 (byte {error.start + 1}); expected links such as 0-0 1-2") from error
    return [line.strip() for line in text.removesuffix("\n").split("\n")] if text else []
