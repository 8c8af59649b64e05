"""Alignment lines: two sentences, joined by ribbons that are as thick as the weights."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from regard.pictures.drawing import Box, Drawing, Ribbon, Shape, Words
from regard.pictures.labels import cells, cut, leftwards
from regard.pictures.window import Window

PAD = 16
FONT = 15.0
LETTER = 0.62
LONGEST = 28
WIDEST = 1080  # of a sentence that lies; longer ones stand
BETWEEN = 130.0  # room for the ribbons
STEP = 22.0  # from one standing symbol to the next
THICKEST = 9.0
LEAST = 0.1  # share of the largest weight below which no ribbon is drawn


class Place(NamedTuple):
    """Where a symbol stands, and where its ribbons begin."""

    x: float
    y: float
    text: str


class Sentences(NamedTuple):
    source: list[Place]
    output: list[Place]
    width: float
    height: float
    lying: bool


def lines_of(shown: Window, top: float) -> Drawing:
    """`top` is the weight of the thickest ribbon; weights below a tenth of it are left out, and that is said."""
    least = top * LEAST
    head = PAD + (30 if shown.title else 4)
    lengths = [_lengths(shown.columns), _lengths(shown.rows)]
    lying = max(map(sum, lengths)) <= WIDEST
    sentences = _lying(shown, lengths, head) if lying else _standing(shown, lengths, head)
    note = f"lines: weights from {least:.2f} to {top:.2f}" + (f"; {shown.note}" if shown.note else "")
    width = max(sentences.width, cells(note) * 6.5 + 2 * PAD, min(cells(shown.title), 80) * 10 + 2 * PAD)
    height = sentences.height + 30
    shapes: list[Shape] = [Box(0, 0, round(width), round(height), "paper")]
    if shown.title:
        shapes.append(Words(PAD, PAD + 14, cut(shown.title, 80), 16, bold=True))
    shapes += [*_ribbons(shown, sentences, top, least), *_marks(shown, sentences), *_labels(sentences, shown)]
    shapes.append(Words(PAD, height - PAD + 2, note, 11, "faint"))
    return Drawing(round(width), round(height), shapes, cut(shown.title, 80))


def _lengths(labels: Sequence[str]) -> list[float]:
    """The room each symbol takes on its line."""
    return [max(min(cells(label), LONGEST) * FONT * LETTER, 8) + 12 for label in labels]


def _lying(shown: Window, lengths: list[list[float]], head: float) -> Sentences:
    """The source above, the output below, each read in its own direction and in the middle."""
    width = max(max(map(sum, lengths)) + 2 * PAD + 52, 240)
    middle = 52 + (width - 52) / 2
    above, below = head + 20, head + 20 + BETWEEN + 2 * FONT
    source = _line(shown.columns, lengths[0], middle, above)
    output = _line(shown.rows, lengths[1], middle, below)
    return Sentences(source, output, width, below + 16, True)


def _line(labels: Sequence[str], lengths: Sequence[float], middle: float, y: float) -> list[Place]:
    backwards = leftwards(" ".join(labels))
    x, places = (middle + sum(lengths) / 2 if backwards else middle - sum(lengths) / 2), []
    for label, length in zip(labels, lengths, strict=True):
        step = -length if backwards else length
        places.append(Place(x + step / 2, y, cut(label, LONGEST)))
        x += step
    return places


def _standing(shown: Window, lengths: list[list[float]], head: float) -> Sentences:
    """For long sentences: the source on the left, the output on the right, both read downwards."""
    left = PAD + max(lengths[0], default=0)
    right = left + 2 * BETWEEN
    first = head + 34
    tall = max(len(shown.rows), len(shown.columns), 1) * STEP
    source = _column(shown.columns, left, first, tall)
    output = _column(shown.rows, right, first, tall)
    return Sentences(source, output, right + max(lengths[1], default=0) + PAD, first + tall, False)


def _column(labels: Sequence[str], x: float, first: float, tall: float) -> list[Place]:
    step = tall / max(len(labels), 1)
    return [Place(x, first + (number + 0.5) * step, cut(label, LONGEST)) for number, label in enumerate(labels)]


def _ribbons(shown: Window, sentences: Sentences, top: float, least: float) -> Iterator[Shape]:
    """Thin ones first, so that thick ones lie on top."""
    table = shown.weights.tolist()
    drawn = sorted(
        (weight, t, j) for t, row in enumerate(table) for j, weight in enumerate(row) if weight > 0 and weight >= least
    )
    for weight, t, j in drawn:
        about = f"{shown.rows[t]} ← {shown.columns[j]}: {weight:.6f}"
        share = weight / top
        yield _ribbon(sentences, t, j, max(share * THICKEST, 0.6), "w", 0.25 + 0.6 * share, about)


def _marks(shown: Window, sentences: Sentences) -> Iterator[Shape]:
    for t, j in sorted(shown.marked):
        yield _ribbon(sentences, t, j, 1.5, "mark", 1.0, "")


def _ribbon(sentences: Sentences, t: int, j: int, thickness: float, ink: str, opacity: float, about: str) -> Ribbon:
    source, output = sentences.source[j], sentences.output[t]
    if sentences.lying:
        ends = source.x, source.y + 7, output.x, output.y - FONT
    else:
        ends = source.x + 6, source.y, output.x - 6, output.y
    return Ribbon(*ends, thickness, ink, opacity, not sentences.lying, about)


def _labels(sentences: Sentences, shown: Window) -> Iterator[Shape]:
    """Those on which the answer stands are bold."""
    output, source = shown.axes
    names = ((source, sentences.source, "right", shown.span), (output, sentences.output, "left", range(0)))
    first = min((place.y for place in (*sentences.source[:1], *sentences.output[:1])), default=0.0)
    for name, places, edge, bold in names:
        if not places:
            continue
        if sentences.lying:
            yield Words(PAD, places[0].y, name, 12, "faint")
        else:
            yield Words(places[0].x, first - 26, name, 12, "faint", edge)
        for number, place in enumerate(places):
            down = 0 if sentences.lying else FONT * 0.35
            side = "middle" if sentences.lying else edge
            yield Words(place.x, place.y + down, place.text, FONT, edge=side, kind="label", bold=number in bold)
