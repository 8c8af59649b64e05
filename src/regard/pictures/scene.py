"""What was looked at, where that is no list of words: a picture under a grid of cells, or the frames of a clip."""

from typing import NamedTuple

from regard.pictures.raster import size

CELL = 16  # pixels of a cell, where there is no picture to measure


class Outline(NamedTuple):
    """A box that somebody else drew for an output symbol, in shares (0 … 1) of the picture's width and height."""

    row: int  # t
    left: float
    top: float
    right: float
    bottom: float


class Plane(NamedTuple):
    """A picture whose cells, row by row, are the columns of the weights; each covers an equal share of it."""

    image: bytes  # PNG or JPEG, as the encoder saw it; empty: the weights are drawn without it
    rows: int  # of cells
    columns: int
    boxes: tuple[Outline, ...] = ()
    line: bool = False  # a line of writing: each symbol of the output has its place on it

    @property
    def labels(self) -> list[str]:
        """A name for each cell, `row:column`, both from 1."""
        return [f"{row}:{column}" for row in range(1, self.rows + 1) for column in range(1, self.columns + 1)]

    def measures(self) -> dict[str, list[int]]:
        return {"grid": [self.rows, self.columns]}

    @property
    def aspect(self) -> float:
        """Width over height."""
        width, height = size(self.image) if self.image else (self.columns * CELL, self.rows * CELL)
        return width / height


class Clip(NamedTuple):
    """The frames of a clip, in their order: the columns of the weights."""

    frames: tuple[bytes, ...]  # each PNG or JPEG; empty ones are drawn as grey

    @property
    def labels(self) -> list[str]:
        return [str(number) for number in range(1, len(self.frames) + 1)]

    def measures(self) -> dict[str, int]:
        return {"frames": len(self.frames)}

    @property
    def aspect(self) -> float:
        """Width over height, of the first frame."""
        width, height = size(self.frames[0]) if self.frames and self.frames[0] else (4, 3)
        return width / height


Scene = Plane | Clip


def check_scene(scene: Scene | None, columns: int) -> None:
    """There is a column of weights for every cell, or for every frame."""
    if isinstance(scene, Plane) and (scene.rows * scene.columns != columns or min(scene.rows, scene.columns) < 1):
        raise ValueError(f"a picture of {scene.rows} × {scene.columns} cells does not fit {columns} columns of weights")
    if isinstance(scene, Clip) and len(scene.frames) != columns:
        raise ValueError(f"a clip of {len(scene.frames)} frames does not fit {columns} columns of weights")
