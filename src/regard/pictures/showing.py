"""Pictures shown where one works: in a notebook as SVG, in a terminal as characters."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from regard.pictures.highlight import highlighted
from regard.pictures.labels import cut
from regard.pictures.listing import listing
from regard.pictures.mosaic import mosaic, ruler
from regard.pictures.panel import Panel
from regard.pictures.saving import draw_svg
from regard.pictures.sheet import AUTO, kinds_of, known
from regard.pictures.terminal import heat_map
from regard.pictures.window import heading


def show(panels: Sequence[Panel], *, kind: str = AUTO) -> None:
    """Display in a notebook, print in a terminal."""
    known(kind)
    if _in_notebook():
        display = import_module("IPython.display")
        display.display(display.HTML(draw_svg(panels, kind=kind)))
    else:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        print(draw_text(panels, kind=kind, colour=colour))


def draw_text(panels: Sequence[Panel], *, kind: str = AUTO, width: int = 80, colour: bool = False) -> str:
    """All panels as text, one below the other."""
    kinds = kinds_of(panels, known(kind))
    return "\n\n".join(_text(panel, own, width, colour) for panel, own in zip(panels, kinds, strict=True))


def _text(panel: Panel, own: str, width: int, colour: bool) -> str:
    columns = _underlined(panel)
    if own == "text":
        drawn = highlighted(panel, width=width, colour=colour)
    elif own == "lines":
        drawn = listing(panel.weights, panel.rows, columns, width=width)
    elif own in ("overlay", "animation"):
        drawn = mosaic(panel, width=width, colour=colour)
    elif own == "places":
        drawn = ruler(panel, width=width)
    else:
        drawn = heat_map(panel.weights, panel.rows, columns, width=width, colour=colour, axes=panel.axes)
    return f"{cut(heading(panel.title), width)}\n\n{drawn}" if panel.title else drawn


def _underlined(panel: Panel) -> list[str]:
    """The source, in which the words of an answer that stands there are written _so_."""
    begin, end = panel.span
    return [f"_{label}_" if begin <= place < end else label for place, label in enumerate(panel.columns)]


def _in_notebook() -> bool:
    """Whether what runs this code is a notebook's kernel; IPython in a terminal has none."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
