"""Coloured shapes on a small picture, and pictures as bytes of a file."""

import io
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from math import cos, pi, sin
from typing import NamedTuple

import numpy as np

from regard.data.corpora.pillow import Image, ImageDraw

COLOURS = {
    "red": (215, 40, 40),
    "green": (40, 150, 70),
    "blue": (45, 85, 205),
    "yellow": (240, 200, 50),
    "black": (40, 40, 40),
}
CORNERS = {"square": 4, "triangle": 3}
SHAPES = ("circle", "square", "triangle", "star")
FINER = 4  # drawn so much larger, then made small: edges are smooth


class Thing(NamedTuple):
    colour: str
    shape: str

    def __str__(self) -> str:
        return f"{self.colour} {self.shape}"


class Placed(NamedTuple):
    """A thing on a picture whose sides are 1; y counts downwards."""

    thing: Thing
    x: float
    y: float
    radius: float


THINGS = tuple(Thing(colour, shape) for colour in COLOURS for shape in SHAPES)


def chance(seed: int, *parts: object) -> np.random.Generator:
    """Random numbers that depend on nothing but the seed and what they are for."""
    told = "\t".join(map(str, (seed, *parts)))
    return np.random.default_rng(int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "big"))


def paint(size: int, grey: int, placed: Iterable[Placed]) -> Image.Image:
    """The things, later ones over earlier ones, on a square of `size` pixels of one grey."""
    large = Image.new("RGB", (size * FINER, size * FINER), (grey, grey, grey))
    pen = ImageDraw.Draw(large)
    for thing, x, y, radius in placed:
        x, y, radius = (one * size * FINER for one in (x, y, radius))
        colour = COLOURS[thing.colour]
        if thing.shape == "circle":
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), colour)
        else:
            pen.polygon([(x + radius * u, y + radius * v) for u, v in _outline(thing.shape)], colour)
    return large.reduce(FINER)


def _outline(shape: str) -> list[tuple[float, float]]:
    """Corners inside the circle of radius 1: of a star every other one lies further in; a square stands on its side."""
    if shape == "star":
        return [_corner(k / 10, 1.0 if k % 2 == 0 else 0.45) for k in range(10)]
    corners = CORNERS[shape]
    return [_corner((k + (0.5 if shape == "square" else 0)) / corners, 1.0) for k in range(corners)]


def _corner(turn: float, radius: float) -> tuple[float, float]:
    """From the top, clockwise."""
    return radius * sin(2 * pi * turn), -radius * cos(2 * pi * turn)


def png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def gif(frames: Sequence[Image.Image]) -> bytes:
    """Ten frames a second, for ever. Frames that follow each other must differ: equal ones would become one."""
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=100, loop=0)
    return buffer.getvalue()
