"""Alignment lines without a picture: each output symbol with the source symbols it looked at, for the terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence

from regard.pictures.labels import cells, cut, printable, widest
from regard.pictures.terminal import NARROWEST, steady
from regard.pictures.weights import Weights, checked

LEAST = 0.1  # share of the largest weight below which a symbol is not named


def listing(weights: Weights, rows: Sequence[str], columns: Sequence[str], *, width: int = 80) -> str:
    """A line per output symbol, the heaviest source symbols first, as many as the width holds."""
    table = checked(weights, rows, columns)  # (T, S)
    width = max(width, NARROWEST)
    sides = [cut(printable(label), width // 3) for label in rows]
    heads = _distinct([cut(printable(label), width // 3) for label in columns])
    least = float(table.max(initial=0.0)) * LEAST
    gutter = widest(sides)
    lines = []
    for side, row in zip(sides, table.tolist(), strict=True):
        heaviest = sorted(range(len(heads)), key=lambda j: (-row[j], j))
        named = [(heads[j], row[j]) for j in heaviest if row[j] > 0 and row[j] >= least]
        line = f"{' ' * (gutter - cells(side))}{steady(side)} ← {_joined(named, width - gutter - 3)}"
        lines.append(cut(line.rstrip(), width))
    return "\n".join([*lines, "", cut(f"output ← source, weights from {least:.2f}", width)])


def _distinct(labels: list[str]) -> list[str]:
    """A label that occurs twice gets its place: `t(2)` and `t(3)`."""
    often = {label for label, count in Counter(labels).items() if count > 1}
    return [f"{label}({place})" if label in often else label for place, label in enumerate(labels, 1)]


def _joined(named: Sequence[tuple[str, float]], room: int) -> str:
    """`a 0.93  b 0.05  …`"""
    parts = list(_fitting([(head, f"{weight:.2f}") for head, weight in named], room))
    return "  ".join([*parts, "…"] if len(parts) < len(named) else parts)


def _fitting(named: Sequence[tuple[str, str]], room: int) -> Iterator[str]:
    for number, (head, weight) in enumerate(named):
        room -= cells(head) + len(weight) + 3
        if number and room < 1:
            return
        yield f"{steady(head)} {weight}"
