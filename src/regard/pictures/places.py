"""A line of writing with its transcription: each symbol stands above the place that it was read from.

The place of a symbol is the centre of its weights, Σ_j α_tj x_j. Symbols stand where they were read, so a script that
runs from right to left needs no case of its own.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.pictures.caption import reach
from regard.pictures.drawing import Box, Drawing, Ribbon, Shape, Words
from regard.pictures.labels import cells, cut
from regard.pictures.overlay import PAD, TITLE, Frame, cells_of, ground, outlines, plane_of
from regard.pictures.scene import Plane
from regard.pictures.window import Window

MOST_SYMBOLS = 160  # drawn at most
WIDE, TALLEST = 1040.0, 360.0  # of the line
FONT = 15.0
STEP = 19.0  # from one level of symbols to the next
LEVELS = 4  # of symbols that would stand in each other's way
DOT = 5.0
NOTE = "each symbol stands above the centre of its weights"


class Place(NamedTuple):
    """The centre of a row's weights and their spread across, in shares of the picture."""

    x: float
    y: float
    spread: float


class Written(NamedTuple):
    frame: Frame  # of the line
    places: list[Place]
    symbols: list[Words]


def places(weights: NDArray[np.float64]) -> Place:
    """Of weights in their cells (R, C)."""
    total = float(weights.sum())
    shares = weights / total if total > 0 else np.full_like(weights, 1 / weights.size)
    x = (np.arange(shares.shape[1]) + 0.5) / shares.shape[1]
    y = (np.arange(shares.shape[0]) + 0.5) / shares.shape[0]
    across, down = shares.sum(0), shares.sum(1)
    centre = float(across @ x)
    return Place(centre, float(down @ y), float(across @ (x - centre) ** 2) ** 0.5)


def places_of(shown: Window, _: float) -> Drawing:
    plane = plane_of(shown)
    written = write(shown, plane)
    note = f"{NOTE}; {shown.note}" if shown.note else NOTE
    frame = written.frame
    width = round(max(frame.width, min(cells(shown.title), TITLE) * 9.5, cells(note) * 5.6) + 2 * PAD)
    height = round(frame.y + frame.height + 44)
    shapes: list[Shape] = [Box(0, 0, width, height, "paper"), *ground(plane, frame)]
    for t, label in enumerate(written.symbols):
        shapes += [*outlines(shown, plane, t, frame), *stem(written.places[t], label, frame)]
    if shown.title:
        shapes.append(Words(PAD, PAD + 14, cut(shown.title, TITLE), 16, bold=True))
    shapes += [*written.symbols, Words(PAD, height - PAD, note, 11, "faint")]
    return Drawing(width, height, shapes, cut(shown.title, TITLE))


def write(shown: Window, plane: Plane) -> Written:
    """The line below its symbols, on as many levels as these need."""
    found = [places(cells_of(shown, plane, t)) for t in range(len(shown.rows))]
    width = round(min(WIDE, TALLEST * plane.aspect))
    rising = _levels(shown, found, width)
    top = PAD + (34 if shown.title else 0) + (max(rising, default=0) + 1) * STEP + 8
    frame = Frame(PAD, top, width, round(max(width / plane.aspect, 24)))
    pairs = zip(found, rising, strict=True)
    return Written(frame, found, [_symbol(shown, t, place, level, frame) for t, (place, level) in enumerate(pairs)])


def _levels(shown: Window, found: list[Place], width: float) -> list[int]:
    """How high each symbol stands: the lowest level on which it does not touch those to its left."""
    ends = [-1.0] * LEVELS
    chosen = [0] * len(found)
    for t in sorted(range(len(found)), key=lambda t: (found[t].x, t)):
        half = reach(shown.rows[t], FONT) / 2 + 1
        x = found[t].x * width
        free = [level for level in range(LEVELS) if ends[level] <= x - half]
        chosen[t] = free[0] if free else int(np.argmin(ends))
        ends[chosen[t]] = x + half
    return chosen


def _symbol(shown: Window, t: int, place: Place, level: int, frame: Frame) -> Words:
    text = cut(shown.rows[t], 12)
    y = frame.y - 8 - level * STEP
    about = f"{t + 1}: {shown.rows[t]} at {place.x:.3f} ± {place.spread:.3f} of the width"
    return Words(frame.x + place.x * frame.width, y, text, FONT, edge="middle", kind="label", about=about)


def stem(place: Place, label: Words, frame: Frame) -> Iterator[Shape]:
    """From the symbol down to its place."""
    y = frame.y + place.y * frame.height
    yield Ribbon(label.x, label.y + 3, label.x, y, 1.0, "w", 0.35)
    yield Box(label.x - DOT / 2, y - DOT / 2, DOT, DOT, "line")
