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
    return drawings[0] if len(drawings) == 1 else _arranged(list(_rows(drawings, across)), across > 0)


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


def _arranged(rows: list[list[Drawing]], aligned: bool) -> Drawing:
    """Aligned: panels of one column begin at the same place."""
    columns = [max(row[place].width for row in rows if place < len(row)) for place in range(max(map(len, rows)))]
    shapes: list[Shape] = []
    y = widest = 0.0
    for row in rows:
        x = 0.0
        for place, one in enumerate(row):
            shapes += [moved(shape, x, y) for shape in one.shapes[1:]]  # without its own paper
            x += (columns[place] if aligned else one.width) + GAP
        widest = max(widest, x - GAP)
        y += max(one.height for one in row) + GAP
    paper = Box(0, 0, widest, y - GAP, "paper")
    return Drawing(widest, y - GAP, [paper, *shapes], "; ".join(one.name for row in rows for one in row if one.name))
