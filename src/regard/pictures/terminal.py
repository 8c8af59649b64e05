"""A heat map made of characters, for the terminal: with colour, or in four shades without."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.pictures.labels import LEFT_TO_RIGHT, cells, cut, leftwards, printable, widest
from regard.pictures.panel import AXES
from regard.pictures.weights import Weights, checked, shares

NARROWEST = 20  # columns; below that there is no room for two labels
SHADES = "·░▒▓█"
STEPS = (0.05, 0.25, 0.5, 0.75)  # share of the largest weight at which the next shade begins
RAMP = (234, 53, 54, 90, 126, 162, 168, 174, 180, 186, 229)  # of the 256 terminal colours, dark to bright
RESET = "\x1b[0m"


class Column(NamedTuple):
    label: str
    width: int
    shares: NDArray[np.float64]  # (T,)


def heat_map(
    weights: Weights,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    width: int = 80,
    colour: bool,
    axes: tuple[str, str] = AXES,
) -> str:
    """Rows are output symbols, columns source symbols; columns beyond the width go into blocks below."""
    table = checked(weights, rows, columns)  # (T, S)
    width = max(width, NARROWEST)
    longest = width // 3
    sides = [cut(printable(label), longest) for label in rows]
    heads = [cut(printable(label), longest) for label in columns]
    gutter = widest(sides)
    room = width - gutter - 1
    least = 3 if len(heads) * 3 <= room else 2
    drawn = [
        Column(head, max(cells(head) + 1, least), share) for head, share in zip(heads, shares(table).T, strict=True)
    ]
    blocks = ["\n".join(_block(block, sides, gutter, colour)) for block in _blocks(drawn, _even(drawn, room))]
    return "\n\n".join([*blocks, _legend(float(table.max(initial=0.0)), width, colour, axes)])


def _even(columns: list[Column], room: int) -> int:
    """The room that gives no more blocks than the whole of it, but blocks of about one size."""
    widths = [column.width for column in columns]
    blocks = sum(1 for _ in _blocks(columns, room))
    return min(room, -(-sum(widths) // blocks) + max(widths, default=0))


def _blocks(columns: list[Column], room: int) -> Iterator[list[Column]]:
    block: list[Column] = []
    for column in columns:
        if block and sum(each.width for each in block) + column.width > room:
            yield block
            block = []
        block.append(column)
    yield block


def _block(columns: list[Column], sides: list[str], gutter: int, colour: bool) -> Iterator[str]:
    head = "".join(_centred(column.label, column.width) for column in columns)
    yield f"{'':{gutter}} {head}".rstrip()
    paint = tone if colour else _shaded
    for row, side in enumerate(sides):
        line = "".join(paint(float(column.shares[row]), column.width) for column in columns)
        yield f"{' ' * (gutter - cells(side))}{steady(side)} {line}{RESET if colour else ''}".rstrip()


def _shaded(share: float, width: int) -> str:
    """The last column of a cell stays empty, so that neighbours can be told apart."""
    one = shade(share)
    return f"{one if one == SHADES[0] else one * (width - 1):^{width - 1}} "


def shade(share: float) -> str:
    return SHADES[bisect_right(STEPS, share)]


def tone(share: float, width: int) -> str:
    return f"\x1b[48;5;{RAMP[round(share * (len(RAMP) - 1))]}m{' ' * width}"


def _centred(label: str, width: int) -> str:
    left = (width - 1 - cells(label)) // 2
    return f"{' ' * left}{steady(label)}{' ' * (width - left - cells(label))}"


def steady(label: str) -> str:
    return f"{label}{LEFT_TO_RIGHT}" if leftwards(label) else label


def _legend(top: float, width: int, colour: bool, axes: tuple[str, str]) -> str:
    scale = "".join(f"\x1b[48;5;{tone}m " for tone in RAMP) + RESET if colour else SHADES
    steps = len(RAMP if colour else SHADES)
    told = [f"{kind}: {name}" for kind, name in zip(("rows", "columns"), axes, strict=True) if name]
    names = f"   {', '.join(told)}" if told else ""
    return f"0 {scale} " + cut(f"{top:.2f}{names}", width - steps - 3)
