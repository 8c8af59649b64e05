"""How much of a large panel one picture shows, so that what it shows is legible."""

from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.pictures.labels import LEFT_TO_RIGHT, leftwards, printable
from regard.pictures.panel import Panel
from regard.pictures.scene import Scene, check_scene
from regard.pictures.weights import checked

MOST = 120  # symbols of either side in one picture
ARROW = "→"  # in a title: from the source to the output


class Window(NamedTuple):
    """A panel as it will be drawn: checked, printable, and not too large."""

    weights: NDArray[np.float64]  # (T, S)
    rows: list[str]
    columns: list[str]
    title: str
    marked: frozenset[tuple[int, int]]
    note: str  # what was left out
    lines: list[int]  # columns in each line; at least one line
    sides: list[float]  # weights of the lines; empty: they have none
    axes: tuple[str, str]  # what rows and columns are
    span: range  # columns on which the answer stands
    scene: Scene | None = None


def window(panel: Panel, most_rows: int = MOST, most_columns: int = MOST) -> Window:
    """The first symbols of both sides, at most so many; what is left out is said."""
    table = checked(panel.weights, panel.rows, panel.columns)  # (T, S)
    check_scene(panel.scene, len(panel.columns))
    rows, columns = [printable(label) for label in panel.rows], [printable(label) for label in panel.columns]
    marked = frozenset((t, j) for t, j in panel.marked if t < most_rows and j < most_columns)
    names = [f"{name} tokens" if name else other for name, other in zip(panel.axes, ("rows", "columns"), strict=True)]
    counts = zip(names, (len(rows), len(columns)), (most_rows, most_columns), strict=True)
    note = ", ".join(f"{name} 1–{most} of {count}" for name, count, most in counts if count > most)
    rows, columns, table = rows[:most_rows], columns[:most_columns], table[:most_rows, :most_columns]
    lines = _lines(panel, len(columns))
    sides = list(panel.sides[: len(lines)])
    span = range(len(columns))[slice(*panel.span)]
    return Window(table, rows, columns, heading(panel.title), marked, note, lines, sides, panel.axes, span, panel.scene)


def _lines(panel: Panel, shown: int) -> list[int]:
    """How many of the columns that are shown stand in each line."""
    whole = list(panel.lines) or [len(panel.columns)]
    if sum(whole) != len(panel.columns) or min(whole) < 0 or len(panel.sides) not in (0, len(panel.lines)):
        raise ValueError(
            f"lines of {sum(whole)} columns with {len(panel.sides)} weights do not fit {len(panel.columns)} columns in "
            f"{len(panel.lines)} lines"
        )
    ends = [min(end, shown) for end in accumulate(whole)]
    found = [end - begin for begin, end in pairwise([0, *ends])]
    return [count for count, begin in zip(found, [0, *ends], strict=False) if begin < shown or not shown]


def heading(title: str) -> str:
    """A title that is read from left to right, as its arrow points, whatever its words are written in."""
    text = " ".join(printable(word) for word in title.split())
    if not any(map(leftwards, text)):
        return text
    return LEFT_TO_RIGHT + text.replace(ARROW, f"{LEFT_TO_RIGHT}{ARROW}{LEFT_TO_RIGHT}")
