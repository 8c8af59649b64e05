"""The overlay: a small copy of the picture for each output symbol, under a veil that its weights make transparent.

Every copy has its own scale: the largest of its weights is white. So a flat row is lit everywhere, a sharp one in one
spot; the number below is what white stands for.
"""

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import UsageError
from regard.pictures.caption import Caption, draw_caption, set_caption, underlined
from regard.pictures.drawing import Box, Drawing, Picture, Shape, Words
from regard.pictures.labels import cells, cut, leftwards
from regard.pictures.raster import shrunk
from regard.pictures.scene import Plane
from regard.pictures.veil import DARK, DIM, veil
from regard.pictures.window import Window

MOST_COPIES = 60  # rows drawn at most
MOST_CELLS = 10**6
PAD = 16
GAP = 14
AREA = 172.0**2  # of a copy, whatever its shape
NARROW, WIDE, LOW, TALL = 90.0, 500.0, 28.0, 260.0  # of a copy
ACROSS = 1130.0  # of a row of copies
SHARP = 2  # dots of a picture to a pixel
FONT, SMALL = 15.0, 11.0
MOST_WORDS = 24  # of a caption that is written under every copy
TITLE = 80
NOTE = "each picture: black is weight 0, white its largest, the number below it"


class Frame(NamedTuple):
    """A copy of the picture: where it stands and how large it is."""

    x: float
    y: float
    width: float
    height: float


def overlay_of(shown: Window, _: float) -> Drawing:
    """The picture itself, then a copy for each row, in the direction of reading."""
    plane = plane_of(shown)
    width, height = tile(plane.aspect)
    caption = _caption(shown, width)
    below = caption.height + 30 if caption else 30
    head = PAD + (34 if shown.title else 0)
    per_row = max(min(int((ACROSS + GAP) // (width + GAP)), len(shown.rows) + 1), 1)
    note = f"{NOTE}; {shown.note}" if shown.note else NOTE
    least = max(min(cells(shown.title), TITLE) * 9.5, cells(note) * 5.6)
    wide = round(max(per_row * (width + GAP) - GAP, least) + 2 * PAD)
    tall = round(head + -(-(len(shown.rows) + 1) // per_row) * (height + below) + 26)
    frames = []
    for number in range(len(shown.rows) + 1):
        x = PAD + number % per_row * (width + GAP)
        x = wide - x - width if leftwards(" ".join(shown.rows)) else x
        frames.append(Frame(x, head + number // per_row * (height + below), width, height))
    shapes: list[Shape] = [Box(0, 0, wide, tall, "paper")]
    for frame in frames:
        shapes += ground(plane, frame)
    for t, frame in enumerate(frames[1:]):
        shapes += [lit(shown, plane, t, frame), *outlines(shown, plane, t, frame)]
    if shown.title:
        shapes.append(Words(PAD, PAD + 14, cut(shown.title, TITLE), 16, bold=True))
    for t, frame in enumerate(frames[1:]):
        shapes += [*_label(shown, t, frame, caption)]
    shapes.append(Words(PAD, tall - PAD, note, SMALL, "faint"))
    return Drawing(wide, tall, shapes, cut(shown.title, TITLE))


def plane_of(shown: Window) -> Plane:
    if not isinstance(shown.scene, Plane):
        raise UsageError("this panel has no picture under its weights: draw a map, lines or text")
    return shown.scene


def tile(aspect: float) -> tuple[float, float]:
    """Width and height of a copy: of about one area, but neither too long nor too tall."""
    width = min(max(sqrt(AREA * aspect), NARROW), WIDE, TALL * aspect)
    return round(width), round(max(width / aspect, LOW))


def ground(plane: Plane, frame: Frame) -> list[Shape]:
    """The picture on an edge that parts it from the paper; grey where there is none."""
    if not plane.image:
        return [Box(*frame, "faint")]
    edge = Box(frame.x - 1, frame.y - 1, frame.width + 2, frame.height + 2, "grid")
    return [edge, Picture(*frame, shrunk(plane.image, round(SHARP * max(frame.width, frame.height))))]


def cells_of(shown: Window, plane: Plane, t: int) -> NDArray[np.float64]:
    cells: NDArray[np.float64] = shown.weights[t].reshape(plane.rows, plane.columns)
    return cells


def lit(shown: Window, plane: Plane, t: int, frame: Frame) -> Picture:
    """The veil of one row; the pointer shows where its largest weight is."""
    weights = shown.weights[t]
    about = f"{shown.rows[t]} ← {shown.columns[int(weights.argmax())]}: {weights.max():.6f}"
    return Picture(*frame, veil(cells_of(shown, plane, t), DIM if plane.line else DARK), about)


def outlines(shown: Window, plane: Plane, t: int, frame: Frame) -> Iterator[Shape]:
    """Marked cells and given boxes of one row."""
    wide, tall = frame.width / plane.columns, frame.height / plane.rows
    for _, j in sorted(cell for cell in shown.marked if cell[0] == t):
        row, column = divmod(j, plane.columns)
        yield Box(frame.x + column * wide, frame.y + row * tall, round(wide, 2), round(tall, 2), "mark", kind="mark")
    for box in plane.boxes:
        if box.row == t:
            x, y = frame.x + box.left * frame.width, frame.y + box.top * frame.height
            across, down = (box.right - box.left) * frame.width, (box.bottom - box.top) * frame.height
            yield Box(x, y, round(across, 2), round(down, 2), "mark", kind="mark")


def _caption(shown: Window, width: float) -> Caption | None:
    """The whole output, where rows are its words and these are few; on a line of writing they are letters."""
    words = shown.axes[0] and not plane_of(shown).line and 1 < len(shown.rows) <= MOST_WORDS
    return set_caption(shown.rows, width, SMALL) if words else None


def _label(shown: Window, t: int, frame: Frame, caption: Caption | None) -> Iterator[Shape]:
    """The symbol, what white is worth, and the symbol's place in the caption."""
    text = cut(shown.rows[t], max(int(frame.width // 11), 6))
    y = frame.y + frame.height + 18
    sides = [(frame.x + 1, "left"), (frame.x + frame.width - 1, "right")]
    (first, edge), (last, other) = sides[::-1] if leftwards(" ".join(shown.rows)) else sides
    yield Words(first, y, text, FONT, edge=edge, bold=True, kind="label", about=shown.rows[t])
    yield Words(last, y, f"{float(shown.weights[t].max(initial=0.0)):.2g}", SMALL, "faint", other)
    if caption:
        yield from draw_caption(caption, frame.x, y + 1, without=t)
        yield from underlined(caption, frame.x, y + 1, t)
