"""The filmstrip: frames of a clip in a row, and below them what each output symbol made of them, a cell per frame.

Every frame has its cells; of many frames only some are seen, at even distances, each above the cells it stands for.
"""

from collections.abc import Iterator
from typing import NamedTuple

from regard.errors import UsageError
from regard.pictures.caption import reach
from regard.pictures.drawing import Box, Drawing, Picture, Shape, Words
from regard.pictures.labels import cells, cut, widest
from regard.pictures.raster import shrunk
from regard.pictures.scene import Clip
from regard.pictures.window import Window

MOST_FRAMES = 400  # with cells
PAD = 16
ACROSS = 980.0  # of the strip
WIDEST, NARROWEST = 150.0, 84.0  # of a frame that is seen
BAND = 26.0  # from one row of cells to the next
FONT, SMALL = 14.0, 11.0
LONGEST = 24
SCALE = 10
SHARP = 2
TITLE = 80


class Strip(NamedTuple):
    left: float
    top: float  # of the frames
    cell: float  # width
    frame: float  # width
    tall: float  # a frame's height
    seen: range

    @property
    def first(self) -> float:
        """Where the first row of cells begins."""
        return self.top + self.tall + 24


def filmstrip_of(shown: Window, top: float) -> Drawing:
    """`top` is the weight that has the full colour."""
    clip = clip_of(shown)
    strip = _strip(shown, clip)
    across = len(shown.columns) * strip.cell
    note = "; ".join(filter(None, [_thinned(shown, strip), shown.note]))
    width = max(strip.left + across, min(cells(shown.title), TITLE) * 9.5 + PAD, strip.left + 180 + cells(note) * 5.8)
    height = round(strip.first + len(shown.rows) * BAND + 44)
    shapes: list[Shape] = [Box(0, 0, round(width) + PAD, height, "paper"), *_frames(clip, strip)]
    shapes += [*_cells(shown, strip, top), *_spans(shown, strip), *_ramp(strip.left, height - PAD - 10)]
    if shown.title:
        shapes.append(Words(PAD, PAD + 14, cut(shown.title, TITLE), 16, bold=True))
    shapes += [*_names(shown, strip), *_numbers(strip.left, height - PAD - 1, top, note)]
    return Drawing(round(width) + PAD, height, shapes, cut(shown.title, TITLE))


def clip_of(shown: Window) -> Clip:
    if not isinstance(shown.scene, Clip):
        raise UsageError("this panel has no frames under its weights: draw a map, lines or text")
    return shown.scene


def thinned(count: int, most: int) -> range:
    """Which of so many are seen: all, or the middle ones of pairs, threes, … so that there are no more than `most`."""
    step = max(-(-count // most), 1)
    return range((step - 1) // 2, count - count % step, step)


def _strip(shown: Window, clip: Clip) -> Strip:
    left = PAD + min(widest(shown.rows), LONGEST) * FONT * 0.62 + 10
    cell = min(ACROSS / max(len(shown.columns), 1), WIDEST)
    seen = thinned(len(shown.columns), int(ACROSS // NARROWEST))
    frame = min(seen.step * cell, WIDEST) - 2
    return Strip(left, PAD + (34 if shown.title else 0), cell, frame, round(frame / clip.aspect), seen)


def _frames(clip: Clip, strip: Strip) -> Iterator[Shape]:
    """Each above the cells that it stands for, its own among them."""
    for place, number in enumerate(strip.seen):
        x, content = strip.left + (place + 0.5) * strip.seen.step * strip.cell - strip.frame / 2, clip.frames[number]
        if content:
            small = shrunk(content, round(SHARP * max(strip.frame, strip.tall)))
            yield Picture(x, strip.top, round(strip.frame, 1), strip.tall, small)
        else:
            yield Box(x, strip.top, round(strip.frame, 1), strip.tall, "grid")


def _cells(shown: Window, strip: Strip, top: float) -> Iterator[Shape]:
    gap = 1.0 if strip.cell > 4 else 0.0
    for t, weights in enumerate(shown.weights.tolist()):
        y = strip.first + t * BAND
        yield Box(strip.left, y, round(len(weights) * strip.cell, 2), BAND - 4, "grid")
        for j, weight in enumerate(weights):
            about = f"{shown.rows[t]} ← {shown.columns[j]}: {weight:.6f}"
            share = weight / top if top > 0 else 0.0
            x, width = strip.left + j * strip.cell + gap / 2, round(strip.cell - gap, 2)
            yield Box(x, y, width, BAND - 4, "w", share, "cell", about)


def _spans(shown: Window, strip: Strip) -> Iterator[Shape]:
    """Marked frames: neighbours have one outline."""
    for t in range(len(shown.rows)):
        marked = sorted(j for row, j in shown.marked if row == t)
        begins = [j for j in marked if j - 1 not in marked]
        ends = [j for j in marked if j + 1 not in marked]
        for begin, end in zip(begins, ends, strict=True):
            x, width = strip.left + begin * strip.cell, (end - begin + 1) * strip.cell
            yield Box(x, strip.first + t * BAND - 1, round(width, 2), BAND - 2, "mark", kind="mark")


def _names(shown: Window, strip: Strip) -> Iterator[Shape]:
    for t, row in enumerate(shown.rows):
        y = strip.first + t * BAND + BAND / 2 + 3
        yield Words(strip.left - 10, y, cut(row, LONGEST), FONT, edge="right", kind="label", about=row)
    room = strip.frame / max(reach("0", SMALL), 1)
    for place, number in enumerate(strip.seen):
        x = strip.left + (place + 0.5) * strip.seen.step * strip.cell
        label = cut(shown.columns[number], int(room))
        yield Words(x, strip.top + strip.tall + 15, label, SMALL, "faint", "middle", kind="label")


def _thinned(shown: Window, strip: Strip) -> str:
    if len(strip.seen) == len(shown.columns):
        return ""
    return f"{len(strip.seen)} of {len(shown.columns)} frames are seen; every frame has its cells"


def _ramp(left: float, y: float) -> Iterator[Shape]:
    yield Box(left + 12, y, SCALE * 10, 10, "grid")
    for step in range(SCALE):
        yield Box(left + 12 + 10 * step, y, 10, 10, "w", (step + 0.5) / SCALE)


def _numbers(left: float, y: float, top: float, note: str) -> Iterator[Shape]:
    yield Words(left, y, "0", SMALL, "faint")
    yield Words(left + 18 + 10 * SCALE, y, f"{top:.2f}", SMALL, "faint")
    if note:
        yield Words(left + 170, y, note, SMALL, "faint")
