"""A drawing as PNG or PDF, painted by matplotlib, which shapes Arabic, Indic and all other scripts since 3.11."""

import io
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError, MissingExtra, UsageError
from regard.pictures.drawing import INKS, Box, Drawing, Picture, Ribbon, Words
from regard.pictures.fonts import lettering

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PIXELS = 96  # to the inch, as in browsers
POINTS = 72 / PIXELS  # to a pixel
OLDEST = (3, 11)  # the first that joins letters
INVISIBLE = 0.004  # an opacity below which nobody sees a cell
SHARP = 2  # dots of a PNG to a pixel


def png(drawing: Drawing, numbers: str) -> bytes:
    name = drawing.name.encode("ascii", "replace").decode()  # PNG's plain text chunks hold no other letters
    return _painted(drawing, format="png", dpi=PIXELS * SHARP, metadata={"Title": name, "regard": numbers})


def layer(drawing: Drawing) -> bytes:
    """A small PNG, clear where nothing is painted."""
    return _painted(drawing, format="png", dpi=PIXELS, transparent=True)


def pdf(drawing: Drawing, numbers: str) -> bytes:
    """Without the hour of its making: the same weights give the same file."""
    return _painted(drawing, format="pdf", metadata={"Title": drawing.name, "Keywords": numbers, "CreationDate": None})


def _painted(drawing: Drawing, **how: Any) -> bytes:
    _check_matplotlib()
    figure = _figure(drawing)
    target = io.BytesIO()
    figure.savefig(target, bbox_inches=figure.bbox_inches, **how)  # all of it, whatever a user's matplotlibrc says
    return target.getvalue()


def _check_matplotlib() -> None:
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    if matplotlib.__version_info__ < OLDEST:
        raise UsageError(
            f"matplotlib {matplotlib.__version__} came, which cannot join Arabic or Indic letters; PNG and PDF need "
            f"{'.'.join(map(str, OLDEST))} or later: pip install 'regard[plot]'"
        )


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

    drawn = [box for box in boxes if box.opacity >= INVISIBLE]
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


def _pictures(axes: "Axes", pictures: Iterable[Picture], layer: int) -> None:
    for one in pictures:
        place = (one.x, one.x + one.width, one.y + one.height, one.y)
        pixels = _pixels(one.content)
        smooth = "bilinear" if pixels.shape[1] < one.width * SHARP else "antialiased"  # which shows large dots as such
        axes.imshow(pixels, extent=place, aspect="auto", interpolation=smooth, zorder=layer)


def _pixels(content: bytes) -> NDArray[np.uint8]:
    """(H, W, 4); Pillow comes with matplotlib."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as picture:
            return np.asarray(picture.convert("RGBA"))
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"a picture of {len(content)} bytes cannot be read: {error}") from error


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
            usetex=False,
            zorder=layer,
        )


PAINTERS: dict[type, Any] = {Box: _boxes, Ribbon: _ribbons, Words: _words, Picture: _pictures}
