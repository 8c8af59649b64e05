"""What the README of a data set says."""

from typing import NamedTuple


class About(NamedTuple):
    meaning: str
    task: str
    key: str  # what the split keeps together
    source: str  # package and version, or the file it is made of
    licence: str
    credit: str  # who is to be thanked
    columns: str = "source, target"
