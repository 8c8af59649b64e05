"""A clean line of ink → the same line as a hand, a pen and a sheet of paper would have it.

Planes are arrays (H, W); ink is 1 where there is ink and 0 where there is none. Lengths are parts of the height.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.corpora.pillow import Image, ImageFilter

Plane = NDArray[np.float32]

MARGIN = 1 / 8  # above and below: bending leaves no ink outside
STROKE = 64  # a pen is a pixel thicker or thinner for every so many rows
GRAIN = 4  # elastic displacements and shades of the paper are drawn for squares of a quarter of the height


class Hand(NamedTuple):
    """How one line is written; as it stands here, it is print."""

    slant: float = 0.0  # to the right, for every row up
    wave: float = 0.0  # how far the base line rises and falls
    period: float = 4.0  # of the wave
    phase: float = 0.0
    warp: float = 0.0  # standard deviation of elastic displacements
    pen: float = 0.0  # 1 is a stroke thicker, -1 a stroke thinner
    blur: float = 0.0  # pixels
    noise: float = 0.0  # standard deviation of the grey of single pixels
    shade: float = 0.0  # standard deviation of the paper's grey
    paper: float = 1.0  # grey, 1 is white
    ink: float = 0.0


def any_hand(rng: np.random.Generator) -> Hand:
    return Hand(
        slant=rng.uniform(-0.15, 0.5),
        wave=rng.uniform(0, 0.04),
        period=rng.uniform(3, 10),
        phase=rng.uniform(0, 2 * np.pi),
        warp=rng.uniform(0, 0.018),
        pen=rng.uniform(-0.4, 0.9),
        blur=rng.uniform(0, 0.9),
        noise=max(0.0, rng.uniform(-0.03, 0.04)),  # less than every second sheet is noisy
        shade=rng.uniform(0, 0.03),
        paper=rng.uniform(0.75, 1),
        ink=rng.uniform(0, 0.35),
    )


def write(ink: Plane, hand: Hand, rng: np.random.Generator) -> Image.Image:
    """A grey picture of the ink, bent, on paper."""
    bent = bend(thicken(ink, hand.pen), hand, rng)
    paper = hand.paper + hand.shade * field(bent.shape, rng)
    grey = paper * (1 - bent) + hand.ink * bent
    if hand.blur:
        grey = _filtered(grey, ImageFilter.GaussianBlur(hand.blur))
    grey = grey + hand.noise * rng.standard_normal(bent.shape, dtype=np.float32)
    return to_picture(grey)


def rows_of_ink(height: int) -> int:
    """Of a picture of this height, between the margins."""
    return height - 2 * round(height * MARGIN)


def with_margins(ink: Plane, height: int, hand: Hand) -> Plane:
    """Room for what bending moves: up to the height of the picture, and at the sides also for the slant."""
    rows = (height - len(ink)) // 2
    columns = rows + round(abs(hand.slant) * height / 2)
    return np.pad(ink, ((rows, rows), (columns, columns)))


def thicken(ink: Plane, pen: float) -> Plane:
    """Part of the way to the darkest (or, below 0, the lightest) that is near."""
    size = 2 * max(1, round(len(ink) / STROKE)) + 1
    edge = ImageFilter.MaxFilter(size) if pen > 0 else ImageFilter.MinFilter(size)
    return ink + abs(pen) * (_filtered(ink, edge) - ink) if pen else ink


def bend(ink: Plane, hand: Hand, rng: np.random.Generator) -> Plane:
    """bent(y, x) = ink(y + d_y, x + d_x), where d is slant, wave and an elastic field (Simard et al. 2003)"""
    height, width = ink.shape
    y, x = np.mgrid[:height, :width].astype(np.float32)
    up = (height - 1) / 2 - y
    rise = hand.wave * height * np.sin(2 * np.pi * x / (hand.period * height) + hand.phase)
    d_y = rise + hand.warp * height * field(ink.shape, rng)
    d_x = -hand.slant * up + hand.warp * height * field(ink.shape, rng)
    return sample(ink, y + d_y, x + d_x)


def field(shape: tuple[int, ...], rng: np.random.Generator) -> Plane:
    """Standard normal numbers for coarse squares, with smooth ways between them, at most 2.5 from zero."""
    height, width = shape
    squares = (GRAIN + 1, max(2, round(GRAIN * width / height) + 1))
    coarse = rng.standard_normal(squares, dtype=np.float32).clip(-2.5, 2.5)
    smooth = Image.fromarray(coarse).resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(smooth, dtype=np.float32)


def sample(plane: Plane, y: Plane, x: Plane) -> Plane:
    """The plane between its pixels, by the four around each place; outside there is nothing."""
    height, width = plane.shape
    edged = np.pad(plane, (1, 2))
    y, x = (y + 1).clip(0, height + 1), (x + 1).clip(0, width + 1)
    top, left = y.astype(np.intp), x.astype(np.intp)
    low, right = y - top, x - left
    above = edged[top, left] * (1 - right) + edged[top, left + 1] * right
    below = edged[top + 1, left] * (1 - right) + edged[top + 1, left + 1] * right
    between: Plane = (above * (1 - low) + below * low).astype(np.float32)
    return between


def to_picture(plane: Plane) -> Image.Image:
    return Image.fromarray((plane.clip(0, 1) * 255).round().astype(np.uint8))


def to_plane(picture: Image.Image) -> Plane:
    """Black 0, white 1."""
    return np.asarray(picture, dtype=np.float32) / np.float32(255)


def _filtered(plane: Plane, how: Any) -> Plane:
    """Pillow filters bytes only."""
    return to_plane(to_picture(plane).filter(how))
