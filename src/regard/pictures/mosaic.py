"""Pictures for the terminal: a grid of shades for each output symbol, and symbols above their places on a line."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from regard.pictures.labels import cells, cut
from regard.pictures.overlay import MOST_CELLS, cells_of, plane_of
from regard.pictures.panel import Panel
from regard.pictures.places import places
from regard.pictures.scene import Plane
from regard.pictures.terminal import NARROWEST, RESET, SHADES, shade, steady, tone
from regard.pictures.window import Window, window

MOST = 10**6  # the terminal scrolls
LETTER = 2.0  # height of a terminal's letter over its width
SMALLEST, LARGEST = 14, 22  # columns of a copy; of a wide one as many as there are
GAP = 2


def mosaic(panel: Panel, *, width: int = 80, colour: bool = False) -> str:
    """As many copies side by side as fit; a letter is as strong as the mean weight under it, in shares of the copy's
    strongest letter."""
    shown = window(panel, MOST, MOST_CELLS)
    plane, width = plane_of(shown), max(width, NARROWEST)
    across, down = _size(plane, width)
    copies = [[*_copy(shown, plane, t, across, down, colour)] for t in range(len(shown.rows))]
    beside = max((width + GAP) // (across + GAP), 1)
    blocks = ["\n".join(_beside(copies[begin : begin + beside])) for begin in range(0, len(copies), beside)]
    none, most = (tone(0, 2) + RESET, tone(1, 2) + RESET) if colour else (SHADES[0], SHADES[-1])
    return "\n\n".join([*blocks, f"{none} 0  {most} " + cut("most in each", width - 10)])


def _size(plane: Plane, width: int) -> tuple[int, int]:
    """Letters across and down, near to the shape of the picture."""
    wide = width if plane.aspect > LETTER * 2 else LARGEST
    across = min(max(plane.columns, SMALLEST), wide, width)
    return across, max(round(across / plane.aspect / LETTER), 1)


def _copy(shown: Window, plane: Plane, t: int, across: int, down: int, colour: bool) -> Iterator[str]:
    """The name, and below it the letters; all lines are equally long."""
    name = cut(shown.rows[t], across)
    yield steady(name) + " " * (across - cells(name))
    drawn = resampled(cells_of(shown, plane, t), down, across)
    top = float(drawn.max())
    for row in (drawn / top if top > 0 else drawn).tolist():
        yield "".join(tone(share, 1) if colour else shade(share) for share in row) + (RESET if colour else "")


def resampled(weights: NDArray[np.float64], down: int, across: int) -> NDArray[np.float64]:
    """Cells (R, C) on another grid (down, across): the weights under each of its fields, so that none is lost."""
    return _overlap(weights.shape[0], down) @ weights @ _overlap(weights.shape[1], across).T


def _overlap(count: int, fields: int) -> NDArray[np.float64]:
    """(fields, count): the share of each cell that lies in each field, when both fill the same length."""
    cell, field = np.arange(count) / count, np.arange(fields)[:, None] / fields
    common = np.minimum(cell + 1 / count, field + 1 / fields) - np.maximum(cell, field)
    shares: NDArray[np.float64] = np.maximum(common, 0) * count
    return shares


def _beside(copies: Sequence[Sequence[str]]) -> Iterator[str]:
    for lines in zip_longest(*copies):
        yield (" " * GAP).join(lines).rstrip()


def ruler(panel: Panel, *, width: int = 80) -> str:
    """The symbols of a line of writing where they were read, in as many lines as it takes; a rule stands for it."""
    shown = window(panel, MOST, MOST_CELLS)
    plane, width = plane_of(shown), max(width, NARROWEST)
    levels: list[list[tuple[int, str]]] = [[]]
    found = [places(cells_of(shown, plane, t)).x for t in range(len(shown.rows))]
    for t in sorted(range(len(found)), key=lambda t: (found[t], t)):
        text = cut(shown.rows[t], width // 3)
        begin = min(max(int(found[t] * width) - (cells(text) - 1) // 2, 0), width - cells(text))
        free = [level for level in levels if not level or level[-1][0] + cells(level[-1][1]) <= begin]
        if not free:
            levels.append([])
        (free or levels[-1:])[0].append((begin, text))
    lines = [_spread(level) for level in reversed(levels)]
    return "\n".join([*lines, "─" * width, "", cut("each symbol stands where it was read", width)])


def _spread(level: Sequence[tuple[int, str]]) -> str:
    line, taken = "", 0
    for begin, text in level:
        line += " " * (begin - taken) + steady(text)
        taken = begin + cells(text)
    return line
