"""A heat map as SVG: one file that any browser opens, with the weight of every cell under the pointer."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from regard.pictures.labels import cells, cut, leftwards, printable, widest
from regard.pictures.weights import Weights, checked, shares

PAD = 16
GAP = 6  # between labels and cells
LONGEST = 28  # columns of a label; the pointer shows the whole of it
LETTER = 0.6  # width of a letter in heights of the font, on average
SLANT = 0.71  # sine and cosine of the 45° by which long labels lean
SCALE = 10  # steps in the legend

# The picture brings its own paper, so it is legible on any page, and turns dark where readers asked for it.
STYLE = """
.regard-map { font-family: system-ui, "Noto Sans", sans-serif }
.regard-map .paper { fill: #ffffff } .regard-map .ink { fill: #1f2430 } .regard-map .faint { fill: #6b7280 }
.regard-map .grid { fill: #e9edf4 } .regard-map .w { fill: #12408f }
.regard-map .w:hover { stroke: #e07a1f; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
.regard-map .paper { fill: #14171c } .regard-map .ink { fill: #e6e8ec } .regard-map .faint { fill: #9aa3af }
.regard-map .grid { fill: #232932 } .regard-map .w { fill: #9fd0ff }
}
"""


class Layout(NamedTuple):
    """All measures in pixels. `left` and `top` are where the first cell begins."""

    cell: float
    font: float
    left: float
    top: float
    width: float
    height: float
    leaning: bool  # whether the labels of columns lean, for want of room


def svg(weights: Weights, rows: Sequence[str], columns: Sequence[str], *, title: str = "") -> str:
    """Rows are output symbols, columns source symbols; the largest weight has the full colour."""
    table = checked(weights, rows, columns)  # (T, S)
    sides, heads = [printable(label) for label in rows], [printable(label) for label in columns]
    layout = _layout(sides, heads, title)
    parts = [
        _opening(layout, title),
        *_names(layout, len(rows), len(columns), title),
        *_labels(layout, sides, heads),
        *_cells(layout, table.tolist(), shares(table).tolist(), sides, heads),
        *_legend(layout, float(table.max(initial=0.0))),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _layout(sides: list[str], heads: list[str], title: str) -> Layout:
    cell = min(max(round(560 / max(len(sides), len(heads), 1)), 15), 32)
    font = min(14.0, cell * 0.76)
    lengths = [min(cells(head), LONGEST) * font * LETTER for head in heads]
    leaning = max(lengths, default=0) > cell
    reach = [length * SLANT for length in lengths] if leaning else [0.0] * len(heads)  # up, and to the right
    left = PAD + 20 + min(widest(sides), LONGEST) * font * LETTER + GAP
    top = PAD + (28 if title else 0) + 20 + max(reach, default=0) + font + GAP
    right = left + max([(column + 1) * cell + each * 1.1 for column, each in enumerate(reach)], default=0)
    width = max(right + PAD, left + 180 + PAD, cells(_heading(title)) * 10 + 2 * PAD)
    return Layout(cell, font, left, top, width, top + len(sides) * cell + 30 + PAD, leaning)


def _opening(layout: Layout, title: str) -> str:
    width, height = f"{layout.width:.0f}", f"{layout.height:.0f}"
    name = _heading(title) or "attention weights"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="regard-map" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(name)}>\n'
        f"<title>{escape(name)}</title>\n<style>{STYLE}</style>\n"
        f'<rect class="paper" width="{width}" height="{height}" rx="8"/>'
    )


def _heading(title: str) -> str:
    return cut(" ".join(printable(word) for word in title.split()), 80)


def _names(layout: Layout, rows: int, columns: int, title: str) -> Iterator[str]:
    """The heading, and what the two axes are."""
    across, down = layout.left + columns * layout.cell / 2, layout.top + rows * layout.cell / 2
    if title:
        yield _text(PAD, PAD + 14, _heading(title), "left", 'class="ink" font-size="16" font-weight="600"')
    yield _text(across, PAD + (28 if title else 0) + 11, "source", "middle", 'class="faint" font-size="12"')
    turned = f'class="faint" font-size="12" transform="rotate(-90 {PAD + 9} {down:.1f})"'
    yield _text(PAD + 9, down, "output", "middle", turned)


def _labels(layout: Layout, sides: list[str], heads: list[str]) -> Iterator[str]:
    style = f'class="ink label" font-size="{layout.font:.1f}"'
    for column, head in enumerate(heads):
        x, y = layout.left + (column + 0.5) * layout.cell, layout.top - GAP - (2 if layout.leaning else 0)
        if layout.leaning:
            lean = f'{style} transform="rotate(-45 {x:.1f} {y:.1f})"'
            yield _text(x, y + layout.font * 0.35, cut(head, LONGEST), "left", lean)
        else:
            yield _text(x, y, head, "middle", style)
    for row, side in enumerate(sides):
        y = layout.top + (row + 0.5) * layout.cell + layout.font * 0.35
        yield _text(layout.left - GAP, y, cut(side, LONGEST), "right", style)


def _cells(
    layout: Layout, table: list[list[float]], dark: list[list[float]], sides: list[str], heads: list[str]
) -> Iterator[str]:
    size = f'width="{layout.cell - 1:g}" height="{layout.cell - 1:g}"'
    all_of_it = f'width="{len(heads) * layout.cell:g}" height="{len(sides) * layout.cell:g}"'
    yield f'<rect class="grid" x="{layout.left:.1f}" y="{layout.top:.1f}" {all_of_it} rx="2"/>'
    for row, side in enumerate(sides):
        for column, head in enumerate(heads):
            x, y = layout.left + column * layout.cell + 0.5, layout.top + row * layout.cell + 0.5
            yield (
                f'<rect class="w cell" x="{x:.1f}" y="{y:.1f}" {size} fill-opacity="{dark[row][column]:.3f}">'
                f"<title>{escape(side)} ← {escape(head)}: {table[row][column]:.6f}</title></rect>"
            )


def _legend(layout: Layout, top: float) -> Iterator[str]:
    y = layout.height - PAD - 10
    yield _text(layout.left, y + 9, "0", "left", 'class="faint" font-size="11"')
    yield f'<rect class="grid" x="{layout.left + 12:.1f}" y="{y:.1f}" width="{SCALE * 10}" height="10"/>'
    for step in range(SCALE):
        x, opacity = layout.left + 12 + 10 * step, (step + 0.5) / SCALE
        yield f'<rect class="w" x="{x:.1f}" y="{y:.1f}" width="10" height="10" fill-opacity="{opacity:.2f}"/>'
    yield _text(layout.left + 18 + 10 * SCALE, y + 9, f"{top:.2f}", "left", 'class="faint" font-size="11"')


def _text(x: float, y: float, text: str, edge: str, attributes: str) -> str:
    """`edge` is the side of the text that stands at x; start and end change places in right-to-left text."""
    backwards = leftwards(text)
    anchor = {
        "left": "end" if backwards else "start",
        "middle": "middle",
        "right": "start" if backwards else "end",
    }[edge]
    direction = ' direction="rtl"' if backwards else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{direction} {attributes}>{escape(text)}</text>'
