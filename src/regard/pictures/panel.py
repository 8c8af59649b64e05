"""What every kind of picture draws: weights with their labels."""

from collections.abc import Sequence
from typing import NamedTuple

from regard.pictures.scene import Scene
from regard.pictures.weights import Weights

AXES = ("output", "source")


class Panel(NamedTuple):
    """One answer's attention."""

    weights: Weights  # (T, S)
    rows: Sequence[str]  # output symbols
    columns: Sequence[str]  # source symbols
    title: str = ""
    marked: frozenset[tuple[int, int]] = frozenset()  # cells (t, j) with an outline: links that somebody else drew
    lines: tuple[int, ...] = ()  # columns in each line of a text: of its sentences or turns; empty: one line
    sides: tuple[float, ...] = ()  # weights of the lines
    axes: tuple[str, str] = AXES  # what rows and columns are; empty: it need not be said
    kind: str = ""  # what suits it; empty: a text where it has lines, else a map
    span: tuple[int, int] = (0, 0)  # columns begin … end − 1, on which the answer stands; nowhere: begin = end
    scene: Scene | None = None  # what the columns are parts of, if that is a picture or a clip
