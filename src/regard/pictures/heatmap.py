"""The heat map: a cell per weight, rows are output symbols, columns source symbols."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from regard.pictures.drawing import Box, Drawing, Shape, Words
from regard.pictures.labels import cells, cut, widest
from regard.pictures.markup import draw
from regard.pictures.numbers import to_json
from regard.pictures.panel import Panel
from regard.pictures.weights import Weights
from regard.pictures.window import Window, window

PAD = 16
GAP = 6  # between labels and cells
LONGEST = 28  # columns of a label; the pointer shows the whole of it
LETTER = 0.6  # width of a letter in heights of the font, on average
SLANT = 0.71  # sine and cosine of the 45° by which long labels lean
SCALE = 10  # steps in the legend
TITLE = 80  # columns of a heading


class Layout(NamedTuple):
    """All measures in pixels. `left` and `top` are where the first cell begins."""

    cell: float
    font: float
    left: float
    top: float
    width: float
    height: float
    leaning: bool  # whether the labels of columns lean, for want of room


def svg(
    weights: Weights,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str = "",
    marked: Collection[tuple[int, int]] = (),
) -> str:
    """One heat map; the largest weight has the full colour, marked cells (t, j) have an outline."""
    panel = Panel(weights, rows, columns, title, frozenset(marked))
    shown = window(panel)
    return draw(heat_map_of(shown, float(shown.weights.max(initial=0.0))), to_json([panel]))


def heat_map_of(shown: Window, top: float) -> Drawing:
    """`top` is the weight that has the full colour."""
    layout = _layout(shown)
    shapes: list[Shape] = [
        Box(0, 0, round(layout.width), round(layout.height), "paper"),
        *_names(layout, shown),
        *_labels(layout, shown),
        *_cells(layout, shown, top),
        *_legend(layout, top, shown.note),
    ]
    return Drawing(round(layout.width), round(layout.height), shapes, cut(shown.title, TITLE))


def _layout(shown: Window) -> Layout:
    cell = min(max(round(560 / max(len(shown.rows), len(shown.columns), 1)), 13), 32)
    font = min(14.0, cell * 0.76)
    lengths = [min(cells(head), LONGEST) * font * LETTER for head in shown.columns]
    leaning = max(lengths, default=0) > cell
    reach = [length * SLANT for length in lengths] if leaning else [0.0] * len(lengths)  # up, and to the right
    left = PAD + 20 + min(widest(shown.rows), LONGEST) * font * LETTER + GAP
    top = PAD + (28 if shown.title else 0) + 20 + max(reach, default=0) + font + GAP
    right = left + max([(column + 1) * cell + each * 1.1 for column, each in enumerate(reach)], default=0)
    name = min(cells(shown.title), TITLE) * 10
    width = max(right, left + 180, left + 180 + cells(shown.note) * 6.5, name + PAD) + PAD
    return Layout(cell, font, left, top, width, top + len(shown.rows) * cell + 30 + PAD, leaning)


def _names(layout: Layout, shown: Window) -> Iterator[Shape]:
    """The heading, and what the two axes are."""
    across = layout.left + len(shown.columns) * layout.cell / 2
    down = layout.top + len(shown.rows) * layout.cell / 2
    if shown.title:
        yield Words(PAD, PAD + 14, cut(shown.title, TITLE), 16, bold=True)
    output, source = shown.axes
    if source:
        yield Words(across, PAD + (28 if shown.title else 0) + 11, source, 12, "faint", "middle")
    if output:
        yield Words(PAD + 9, down, output, 12, "faint", "middle", turn=90)


def _labels(layout: Layout, shown: Window) -> Iterator[Shape]:
    half = layout.font * 0.35  # from the middle of a letter to where it stands
    for column, head in enumerate(shown.columns):
        x, y = layout.left + (column + 0.5) * layout.cell, layout.top - GAP
        if layout.leaning:
            x, y = x + half * SLANT, y - 2 + half * SLANT
            yield Words(x, y, cut(head, LONGEST), layout.font, turn=45, kind="label", about=head)
        else:
            yield Words(x, y, head, layout.font, edge="middle", kind="label")
    for row, side in enumerate(shown.rows):
        y = layout.top + (row + 0.5) * layout.cell + half
        yield Words(layout.left - GAP, y, cut(side, LONGEST), layout.font, edge="right", kind="label")


def _cells(layout: Layout, shown: Window, top: float) -> Iterator[Shape]:
    size = layout.cell - 1
    across, down = len(shown.columns) * layout.cell, len(shown.rows) * layout.cell
    yield Box(layout.left, layout.top, across, down, "grid")
    for row, (side, weights) in enumerate(zip(shown.rows, shown.weights.tolist(), strict=True)):
        for column, (head, weight) in enumerate(zip(shown.columns, weights, strict=True)):
            x, y = layout.left + column * layout.cell + 0.5, layout.top + row * layout.cell + 0.5
            share = weight / top if top > 0 else 0.0
            yield Box(x, y, size, size, "w", share, "cell", f"{side} ← {head}: {weight:.6f}")
    for row, column in sorted(shown.marked):
        x, y = layout.left + column * layout.cell + 1, layout.top + row * layout.cell + 1
        yield Box(x, y, layout.cell - 2, layout.cell - 2, "mark", kind="mark")
    if shown.span:
        x, wide = layout.left + shown.span.start * layout.cell, len(shown.span) * layout.cell
        yield Box(x + 1, layout.top + 1, wide - 2, down - 2, "mark", kind="mark")


def _legend(layout: Layout, top: float, note: str) -> Iterator[Shape]:
    y = layout.height - PAD - 10
    yield Words(layout.left, y + 9, "0", 11, "faint")
    yield Box(layout.left + 12, y, SCALE * 10, 10, "grid")
    for step in range(SCALE):
        yield Box(layout.left + 12 + 10 * step, y, 10, 10, "w", (step + 0.5) / SCALE)
    yield Words(layout.left + 18 + 10 * SCALE, y + 9, f"{top:.2f}", 11, "faint")
    if note:
        yield Words(layout.left + 170, y + 9, note, 11, "faint")
