"""The weights of a picture, checked: one row per output symbol, one column per source symbol."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = Sequence[Sequence[float]] | NDArray[np.floating[Any]]


def checked(weights: Weights, rows: Sequence[str], columns: Sequence[str]) -> NDArray[np.float64]:
    """(T, S) α_tj as numbers, when they fit the labels and are what weights can be."""
    table = np.asarray(weights, dtype=np.float64)  # (T, S)
    if table.size == 0 and not (rows and columns):
        table = np.zeros((len(rows), len(columns)))  # an empty list does not tell its other axis
    if table.shape != (len(rows), len(columns)):
        raise ValueError(f"weights of shape {table.shape} do not fit {len(rows)} row and {len(columns)} column labels")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("weights must be finite and not negative")
    return table


def shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every weight as a share of the largest: pictures of flat and of sharp attention are both legible."""
    top = float(table.max(initial=0.0))
    return table / top if top > 0 else table  # (T, S)
