"""Pictures of bars, drawn in a moment, whole and damaged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from regard.pictures import png_bytes

COLOURS = {"red": (220, 30, 30), "green": (30, 160, 30), "blue": (30, 30, 220)}
WAYS = ("upright", "flat")


def draw(colour: str, way: str, seed: int = 0) -> np.ndarray[Any, Any]:
    """A coloured bar somewhere in a dark picture of 16 × 16."""
    generator = np.random.default_rng(seed)
    picture = np.zeros((16, 16, 3), np.uint8)
    height, width = (9, 3) if way == "upright" else (3, 9)
    top, left = (int(generator.integers(0, 17 - side)) for side in (height, width))
    picture[top : top + height, left : left + width] = COLOURS[colour]
    return picture


def write_pictures(folder: Path, count: int, row: Callable[[str, str, str], str]) -> Path:
    (folder / "pictures").mkdir(parents=True)
    lines = []
    for number in range(count):
        colour, way = list(COLOURS)[number % 3], WAYS[number // 3 % 2]
        name = f"pictures/{number}.png"
        (folder / name).write_bytes(png_bytes(draw(colour, way, seed=number)))
        lines.append(row(name, colour, way))
    (folder / "rows.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder / "rows.tsv"


def damaged(content: bytes) -> bytes:
    """A PNG whose header and end are sound, and whose middle is not."""
    middle = len(content) // 2
    return content[:middle] + bytes(9) + content[middle + 9 :]
