"""Several panels on one sheet, those of one kind in one scale of colour."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from regard.errors import UsageError
from regard.pictures.animation import MOST_TURNS, animation_of
from regard.pictures.document import MOST_COPIES, MOST_WORDS, text_of
from regard.pictures.drawing import Box, Drawing, Shape, moved
from regard.pictures.filmstrip import MOST_FRAMES, filmstrip_of
from regard.pictures.heatmap import heat_map_of
from regard.pictures.lines import lines_of
from regard.pictures.overlay import MOST_CELLS, overlay_of
from regard.pictures.overlay import MOST_COPIES as MOST_TILES
from regard.pictures.panel import Panel
from regard.pictures.places import MOST_SYMBOLS, places_of
from regard.pictures.scene import Clip, Plane
from regard.pictures.window import MOST, Window, window

GAP = 12
WIDEST = 1300  # of a row, when its length is not given
AUTO = "auto"  # each panel in the kind that suits it


class Kind(NamedTuple):
    draw: Callable[[Window, float], Drawing]
    rows: int = MOST  # drawn at most
    columns: int = MOST
    scene: type | None = None  # what a panel must have under its weights


KINDS = {
    "map": Kind(heat_map_of),
    "lines": Kind(lines_of),
    "text": Kind(text_of, MOST_COPIES, MOST_WORDS),
    "overlay": Kind(overlay_of, MOST_TILES, MOST_CELLS, Plane),
    "places": Kind(places_of, MOST_SYMBOLS, MOST_CELLS, Plane),
    "filmstrip": Kind(filmstrip_of, MOST_COPIES, MOST_FRAMES, Clip),
    "animation": Kind(animation_of, MOST_TURNS, MOST_CELLS, Plane),
}


def sheet(panels: Sequence[Panel], kind: str = AUTO, across: int = 0) -> Drawing:
    """`across` panels side by side in each row; 0: as many as fit. Panels of one kind share one scale."""
    known(kind)
    if not panels:
        raise UsageError("there is nothing to draw: give at least one panel")
    kinds = kinds_of(panels, kind)
    shown = [window(panel, KINDS[own].rows, KINDS[own].columns) for panel, own in zip(panels, kinds, strict=True)]
    tops: dict[str, float] = {}
    for own, one in zip(kinds, shown, strict=True):
        tops[own] = max(tops.get(own, 0.0), float(one.weights.max(initial=0.0)))
    drawings = [KINDS[own].draw(one, tops[own]) for own, one in zip(kinds, shown, strict=True)]
    return drawings[0] if len(drawings) == 1 else _arranged(list(_rows(drawings, across)), across > 0)


def known(kind: str) -> str:
    if kind not in (AUTO, *KINDS):
        raise UsageError(f"a picture of kind {kind!r} came; there are {', '.join(KINDS)} and {AUTO}")
    return kind


def kinds_of(panels: Sequence[Panel], kind: str) -> list[str]:
    """The kind of each; one that needs a picture or a clip is for the panels that have it, and some panel must."""
    wanted = KINDS[kind].scene if kind != AUTO else None
    if wanted and not any(isinstance(panel.scene, wanted) for panel in panels):
        under = "picture" if wanted is Plane else "clip"
        raise UsageError(f"{kind} needs a {under} under the weights, which none of these panels has; {AUTO} suits all")
    return [kind_of(panel, kind) for panel in panels]


def kind_of(panel: Panel, kind: str) -> str:
    """Left to the panel, or where it cannot be drawn as told, what suits it: what it says itself, or
    a text for a source that has lines."""
    wanted = KINDS[kind].scene if kind != AUTO else None
    if kind != AUTO and (wanted is None or isinstance(panel.scene, wanted)):
        return kind
    if isinstance(panel.scene, Clip):
        return "filmstrip"
    if isinstance(panel.scene, Plane):
        return "places" if panel.scene.line else "overlay"
    return panel.kind or ("text" if panel.lines else "map")


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
