"""How much of a large panel one picture shows, so that what it shows is legible."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.pictures.labels import LEFT_TO_RIGHT, leftwards, printable
from regard.pictures.panel import Panel
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


def window(panel: Panel, most: int = MOST) -> Window:
    """The first symbols of both sides, at most so many; what is left out is said."""
    table = checked(panel.weights, panel.rows, panel.columns)  # (T, S)
    rows, columns = [printable(label) for label in panel.rows], [printable(label) for label in panel.columns]
    marked = frozenset((t, j) for t, j in panel.marked if t < min(most, len(rows)) and j < min(most, len(columns)))
    sides = [("output", len(rows)), ("source", len(columns))]
    note = ", ".join(f"{name} tokens 1–{most} of {count}" for name, count in sides if count > most)
    return Window(table[:most, :most], rows[:most], columns[:most], heading(panel.title), marked, note)


def heading(title: str) -> str:
    """A title that is read from left to right, as its arrow points, whatever its words are written in."""
    text = " ".join(printable(word) for word in title.split())
    if not any(map(leftwards, text)):
        return text
    return LEFT_TO_RIGHT + text.replace(ARROW, f"{LEFT_TO_RIGHT}{ARROW}{LEFT_TO_RIGHT}")
