"""Rows of digits, drawn in strokes and bent like handwriting: line pictures that need no font."""

from collections.abc import Iterator
from math import ceil

import numpy as np

from regard.data.corpora.canvas import FINER, chance, png
from regard.data.corpora.hand import Plane, any_hand, rows_of_ink, to_plane, with_margins, write
from regard.data.corpora.pillow import Image, ImageDraw
from regard.data.corpora.split import Row
from regard.data.corpora.write import Files

HEIGHT = 32
SHORTEST, LONGEST = 2, 6  # digits of a row
STROKE = 0.1  # of a digit's height
WIDE = 0.62  # so far from digit to digit

Points = tuple[tuple[float, float], ...]  # x to the right and y down, of a box 0.5 wide and 1 high
STROKES: dict[str, tuple[Points, ...]] = {
    "0": (((0.25, 0), (0.05, 0.2), (0, 0.5), (0.05, 0.8), (0.25, 1), (0.45, 0.8), (0.5, 0.5), (0.45, 0.2), (0.25, 0)),),
    "1": (((0.08, 0.25), (0.28, 0), (0.28, 1)),),
    "2": (((0, 0.22), (0.12, 0.03), (0.38, 0.03), (0.5, 0.25), (0.38, 0.5), (0, 1), (0.5, 1)),),
    "3": (((0, 0.05), (0.4, 0), (0.48, 0.22), (0.2, 0.45), (0.5, 0.7), (0.38, 0.97), (0, 0.95)),),
    "4": (((0.3, 0), (0, 0.65), (0.5, 0.65)), ((0.38, 0.35), (0.38, 1))),
    "5": (((0.48, 0), (0.08, 0), (0.03, 0.42), (0.35, 0.4), (0.5, 0.68), (0.35, 0.98), (0, 0.95)),),
    "6": (((0.45, 0), (0.12, 0.3), (0, 0.7), (0.15, 1), (0.42, 0.95), (0.5, 0.7), (0.3, 0.5), (0.03, 0.65)),),
    "7": (((0, 0), (0.5, 0), (0.18, 1)), ((0.12, 0.5), (0.45, 0.5))),
    "8": (((0.25, 0.47), (0.03, 0.25), (0.25, 0), (0.47, 0.25), (0.25, 0.47), (0, 0.75), (0.25, 1), (0.5, 0.75),
           (0.25, 0.47)),),
    "9": (((0.48, 0.3), (0.2, 0.5), (0, 0.3), (0.2, 0), (0.45, 0.1), (0.48, 0.3), (0.35, 1)),),
}  # fmt: skip


def texts(count: int, seed: int) -> Iterator[str]:
    for number in range(count):
        rng = chance(seed, "digits", number)
        yield "".join(map(str, rng.integers(10, size=rng.integers(SHORTEST, LONGEST + 1))))


def rows(count: int, seed: int) -> Iterator[Row]:
    for number, text in enumerate(texts(count, seed)):
        yield Row(text, _path(number), text)


def pictures(count: int, seed: int) -> Files:
    for number, text in enumerate(texts(count, seed)):
        rng = chance(seed, "strokes", number)
        hand = any_hand(rng)
        yield _path(number), png(write(with_margins(strokes(text, rng), HEIGHT, hand), hand, rng))


def strokes(text: str, rng: np.random.Generator) -> Plane:
    """The ink: every corner of every stroke a little off its place."""
    rows = FINER * rows_of_ink(HEIGHT)
    border, scale = rows * STROKE, rows * (1 - 2 * STROKE)
    columns = (len(text) - 1) * WIDE * scale + 0.5 * scale + 2 * border
    large = Image.new("L", (FINER * ceil(columns / FINER), rows))
    pen = ImageDraw.Draw(large)
    for place, digit in enumerate(text):
        for line in STROKES[digit]:
            off = rng.uniform(-0.03, 0.03, size=(len(line), 2))
            points = border + scale * (np.array(line) + np.array([place * WIDE, 0]) + off)
            pen.line([(x, y) for x, y in points.tolist()], 255, round(border), "curve")
    return to_plane(large.reduce(FINER))


def _path(number: int) -> str:
    return f"pictures/{number:05}.png"
