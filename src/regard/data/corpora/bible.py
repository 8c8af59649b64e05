"""The New Testament, Greek and English, verse by verse, with word links made by hand."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from regard.data.corpora.package import Contents
from regard.data.corpora.split import Row, tidy

GREEK = "data/sources/SBLGNT.tsv"
ENGLISH = "data/eng/targets/BSB/nt_BSB.tsv"
LINKS = "data/eng/alignments/BSB/SBLGNT-BSB-manual.json"


class Word(NamedTuple):
    id: str
    text: str


Verses = dict[str, list[Word]]  # verse → its words in order


def verses(contents: Contents, _: str) -> Iterator[Row]:
    """Greek → English, words and marks apart, so that the n-th word of a line is the n of its links.

    A verse whose links lead into another verse is left out: its two sides do not say the same.
    """
    greek, english = _greek(contents[GREEK]), _english(contents[ENGLISH])
    links = json.loads(contents[LINKS])["records"]
    pairs, astray = _by_verse(links, _places(greek), _places(english))
    for verse, words in greek.items():
        if verse in english and verse in pairs and verse not in astray:
            source, target = _line(words), _line(english[verse])
            pharaoh = " ".join(f"{i}-{j}" for i, j in sorted(pairs[verse]))
            yield Row(source.casefold(), source, target, pharaoh)


def _greek(content: bytes) -> Verses:
    """The first eight digits of an id are the verse: n40001001003 is the third word of Matthew 1:1."""
    found: Verses = defaultdict(list)
    for row in _table(content):
        found[row["id"][1:9]].append(Word(row["id"], row["text"]))
    return found


def _english(content: bytes) -> Verses:
    found: Verses = defaultdict(list)
    for row in _table(content):
        found[row["source_verse"]].append(Word(row["id"], row["text"]))
    return found


def _table(content: bytes) -> Iterator[dict[str, str]]:
    return csv.DictReader(io.StringIO(content.decode("utf-8-sig")), delimiter="\t", quoting=csv.QUOTE_NONE)


def _places(found: Verses) -> dict[str, tuple[str, int]]:
    return {word.id: (verse, place) for verse, words in found.items() for place, word in enumerate(words)}


def _by_verse(
    records: list[dict[str, list[str]]],
    greek: dict[str, tuple[str, int]],
    english: dict[str, tuple[str, int]],
) -> tuple[dict[str, set[tuple[int, int]]], set[str]]:
    """Links as pairs of places, by verse; and the verses that a link leaves or enters."""
    pairs: dict[str, set[tuple[int, int]]] = defaultdict(set)
    astray: set[str] = set()
    for record in records:
        for verse, i in (greek[word] for word in record["source"]):
            for other, j in (english[word] for word in record["target"]):
                if verse == other:
                    pairs[verse].add((i, j))
                else:
                    astray |= {verse, other}
    return pairs, astray


def _line(words: list[Word]) -> str:
    return " ".join(tidy(word.text) for word in words)
