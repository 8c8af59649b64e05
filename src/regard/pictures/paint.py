"""A drawing as PNG or PDF, painted by matplotlib, which shapes Arabic, Indic and all other scripts since 3.11."""

import io
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any

from regard.errors import MissingExtra
from regard.pictures.drawing import INKS, Box, Drawing, Ribbon, Words
from regard.pictures.fonts import lettering

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PIXELS = 96  # to the inch, as in browsers
POINTS = 72 / PIXELS  # to a pixel
SHARP = 2  # dots of a PNG to a pixel, on either axis


def png(drawing: Drawing, numbers: str) -> bytes:
    name = drawing.name.encode("ascii", "replace").decode()  # PNG's plain text chunks hold no other letters
    return _painted(drawing, format="png", dpi=PIXELS * SHARP, metadata={"Title": name, "regard": numbers})


def pdf(drawing: Drawing, numbers: str) -> bytes:
    """Without the hour of its making: the same weights give the same file."""
    return _painted(drawing, format="pdf", metadata={"Title": drawing.name, "Keywords": numbers, "CreationDate": None})


def _painted(drawing: Drawing, **how: Any) -> bytes:
    try:
        from matplotlib import rc_context
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    target = io.BytesIO()
    with rc_context({"pdf.fonttype": 42, "savefig.bbox": "standard"}):  # whatever a user's matplotlibrc says
        _figure(drawing).savefig(target, **how)
    return target.getvalue()


def _figure(drawing: Drawing) -> "Figure":
    """One axes over the whole figure, measured in pixels from the upper left corner. No pyplot: no global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(drawing.width / PIXELS, drawing.height / PIXELS), dpi=PIXELS)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.set_axis_off()
    for layer, (kind, shapes) in enumerate(groupby(drawing.shapes, type)):
        PAINTERS[kind](axes, shapes, layer)
    return figure


def _boxes(axes: "Axes", boxes: Iterable[Box], layer: int) -> None:
    """All at once: a collection of ten thousand cells is quick, ten thousand patches are not."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    drawn = list(boxes)
    corners = [
        [(b.x, b.y), (b.x + b.width, b.y), (b.x + b.width, b.y + b.height), (b.x, b.y + b.height)] for b in drawn
    ]
    outlined = [box.kind == "mark" for box in drawn]
    faces = [to_rgba(INKS[b.ink].light, 0 if mark else b.opacity) for b, mark in zip(drawn, outlined, strict=True)]
    edges = [to_rgba(INKS[b.ink].light, 1 if mark else 0) for b, mark in zip(drawn, outlined, strict=True)]
    axes.add_collection(
        PolyCollection(corners, facecolors=faces, edgecolors=edges, linewidths=2 * POINTS, zorder=layer), autolim=False
    )


def _ribbons(axes: "Axes", ribbons: Iterable[Ribbon], layer: int) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    for one in ribbons:
        path = Path([(one.x, one.y), *one.bends(), (one.to_x, one.to_y)], codes)
        axes.add_patch(
            PathPatch(
                path,
                fill=False,
                edgecolor=INKS[one.ink].light,
                alpha=one.opacity,
                linewidth=one.thickness * POINTS,
                capstyle="butt",
                zorder=layer,
            )
        )


def _words(axes: "Axes", words: Iterable[Words], layer: int) -> None:
    for one in words:
        letters = lettering(one.text, one.bold)
        axes.text(
            one.x,
            one.y,
            letters.text,
            color=INKS[one.ink].light,
            fontsize=one.size * POINTS,
            fontfamily=letters.families,
            fontweight=letters.weight,
            horizontalalignment={"middle": "center"}.get(one.edge, one.edge),
            verticalalignment="baseline",
            rotation=one.turn,
            rotation_mode="anchor",
            parse_math=False,  # a dollar sign is a dollar sign
            zorder=layer,
        )


PAINTERS: dict[type, Any] = {Box: _boxes, Ribbon: _ribbons, Words: _words}
