"""Weights over a picture as a veil: dark where nothing was looked at, white where most was (Xu et al. 2015, fig. 2)."""

import numpy as np
from numpy.typing import NDArray

from regard.pictures.raster import png_bytes

DARK = 0.8  # opacity of black over a cell of weight 0
DIM = 0.6  # the same over a line of writing, whose letters are black themselves
LIGHT = 0.45  # opacity of white over the largest weight: what lies there can still be told
DOTS = 112  # of the longer side of a veil, where its cells allow; browsers smooth it further
FINEST, COARSEST = 8, 2  # dots of a cell


def spread(cells: NDArray[np.float64], dots: int) -> NDArray[np.float64]:
    """Cells (R, C) as dots (R · dots, C · dots): a cell's middle has its weight, and between two it goes evenly over.

    Each cell's share of the whole stays what it was: the dots sum to dots² times the cells.
    """
    return _ramp(cells.shape[0], dots) @ cells @ _ramp(cells.shape[1], dots).T


def _ramp(count: int, dots: int) -> NDArray[np.float64]:
    """(count · dots, count): how much of each cell a dot has; beyond the first and last middle it is one cell's."""
    places = np.clip((np.arange(count * dots) + 0.5) / dots - 0.5, 0, count - 1)
    near: NDArray[np.float64] = np.maximum(1 - np.abs(places[:, None] - np.arange(count)), 0)
    return near


def veil(cells: NDArray[np.float64], dark: float = DARK) -> bytes:
    """A PNG of grey and alpha; the largest weight is white.

    Black has the opacity `dark` (1 − s), white LIGHT s, for the share s of the largest: both are linear in the weight.
    """
    top = float(cells.max(initial=0.0))
    dots = min(max(DOTS // max(cells.shape), COARSEST), FINEST)
    share = spread(cells / top if top > 0 else cells, dots)
    white = LIGHT * share
    alpha = dark * (1 - share) + white
    return png_bytes(np.rint(255 * np.stack([white / alpha, alpha], -1)).astype(np.uint8))
