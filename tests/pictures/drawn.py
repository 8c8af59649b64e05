"""Pictures drawn here, and weights over them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.pictures import Clip, Panel, Plane, png_bytes

HOSTILE = "</image><script>alert('\"&')</script>"


def picture(width: int = 60, height: int = 40, grey: int = 128) -> bytes:
    return png_bytes(np.full((height, width, 3), grey, np.uint8))


def weights(rows: int, columns: int, seed: int = 3) -> NDArray[np.float32]:
    return np.random.default_rng(seed).dirichlet(np.ones(columns), size=rows).astype(np.float32)


def on_plane(rows: list[str], grid: tuple[int, int] = (2, 3), **more: Any) -> Panel:
    """Words over a picture of 2 × 3 cells."""
    plane = Plane(picture(), *grid, boxes=more.pop("boxes", ()), line=more.pop("line", False))
    table = more.pop("weights", weights(len(rows), grid[0] * grid[1]))
    return Panel(table, rows, plane.labels, more.pop("title", "p.png → " + " ".join(rows)), scene=plane, **more)


def on_clip(rows: list[str], frames: int, **more: Any) -> Panel:
    clip = Clip(tuple(picture(48, 32, 5 * number % 256) for number in range(frames)))
    return Panel(weights(len(rows), frames), rows, clip.labels, "c.avi → " + " ".join(rows), scene=clip, **more)
