"""Rows → train, dev and test, so that no key is on two sides and a seed gives the same files everywhere."""

from collections.abc import Iterable
from hashlib import blake2b
from itertools import groupby
from typing import NamedTuple
from unicodedata import normalize


class Row(NamedTuple):
    """One line of a corpus. Rows of one key stay together: spellings of a city, pronunciations of a word."""

    key: str
    source: str
    target: str
    links: str = ""  # word links in Pharaoh form, 0-0 1-2, where the corpus has them
    features: str = ""  # further columns: a question that is read beside the source, a class, other names


class Split(NamedTuple):
    train: list[Row]
    dev: list[Row]
    test: list[Row]


def split(rows: Iterable[Row], *, seed: int, dev: float, test: float) -> Split:
    """By a hash of seed and key; in the order of that hash, so the head of a part is a fair sample of it."""
    placed = sorted(((place(row.key, seed), row) for row in rows), key=lambda pair: pair[0])
    parts = Split([], [], [])
    for where, group in groupby(placed, key=lambda pair: pair[0]):
        part = parts.test if where < test else parts.dev if where < test + dev else parts.train
        part.extend(_distinct(row for _, row in group))
    return parts


def place(key: str, seed: int) -> float:
    """A number in [0, 1) that depends on nothing but key and seed."""
    digest = blake2b(f"{seed}\t{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def tidy(text: str) -> str:
    """Unicode NFC on one line: neither tab nor line break can shift a column."""
    return normalize("NFC", " ".join(text.split()))


def _distinct(rows: Iterable[Row]) -> Iterable[Row]:
    return {(row.source, row.target, row.features): row for row in rows}.values()
