"""Several panels on one sheet, all in one scale of colour."""

from collections.abc import Callable, Iterator, Sequence

from regard.errors import UsageError
from regard.pictures.drawing import Box, Drawing, Shape, moved
from regard.pictures.heatmap import heat_map_of
from regard.pictures.lines import lines_of
from regard.pictures.panel import Panel
from regard.pictures.window import Window, window

GAP = 12
WIDEST = 1300  # of a row, when its length is not given

KINDS: dict[str, Callable[[Window, float], Drawing]] = {"map": heat_map_of, "lines": lines_of}


def sheet(panels: Sequence[Panel], kind: str = "map", across: int = 0) -> Drawing:
    """`across` panels side by side in each row; 0: as many as fit."""
    drawer = KINDS[known(kind)]
    if not panels:
        raise UsageError("there is nothing to draw: give at least one panel")
    shown = [window(panel) for panel in panels]
    top = max(float(one.weights.max(initial=0.0)) for one in shown)
    drawings = [drawer(one, top) for one in shown]
    return drawings[0] if len(drawings) == 1 else _arranged(list(_rows(drawings, across)))


def known(kind: str) -> str:
    if kind not in KINDS:
        raise UsageError(f"a picture of kind {kind!r} came; there are {' and '.join(KINDS)}")
    return kind


def _rows(drawings: Sequence[Drawing], across: int) -> Iterator[list[Drawing]]:
    row: list[Drawing] = []
    for drawing in drawings:
        full = len(row) == across if across else sum(one.width + GAP for one in row) + drawing.width > WIDEST
        if row and full:
            yield row
            row = []
        row.append(drawing)
    yield row


def _arranged(rows: list[list[Drawing]]) -> Drawing:
    width = max(sum(one.width for one in row) + GAP * (len(row) - 1) for row in rows)
    heights = [max(one.height for one in row) for row in rows]
    height = sum(heights) + GAP * (len(rows) - 1)
    shapes: list[Shape] = [Box(0, 0, width, height, "paper")]
    y = 0.0
    for row, tall in zip(rows, heights, strict=True):
        x = 0.0
        for one in row:
            shapes += [moved(shape, x, y) for shape in one.shapes[1:]]  # without its own paper
            x += one.width + GAP
        y += tall + GAP
    return Drawing(width, height, shapes, "; ".join(one.name for row in rows for one in row if one.name))
