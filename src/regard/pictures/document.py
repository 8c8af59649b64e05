"""A text with its words highlighted: the ground of a word is as strong as its weight.

A line of the panel (a sentence, a turn) begins a line of the picture, with its own weight as a bar on the left. A panel
with several rows is drawn as so many copies of the text, one below the other, each with the name of its row.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from regard.pictures.drawing import Box, Drawing, Shape, Words
from regard.pictures.labels import cells, cut, leftwards
from regard.pictures.window import Window

MOST_WORDS = 600  # columns drawn at most
MOST_COPIES = 40  # rows drawn at most
PAD = 16
FONT = 15.0
LETTER = 0.6  # width of a letter in heights of the font, on average; thin and broad ones apart
THIN, BROAD = frozenset("fijlrtI.,:;!|'()[]- "), frozenset("mwMWGOQ%@—")
GAP = 8.0  # around a word, both sides together
LONGEST = 40  # columns of a word; the pointer shows the whole of it
WIDE = 760.0  # of the text
STEP = 25.0  # from one line to the next
BAR = 56.0  # the longest bar of a line's weight
GUTTER = BAR + 46  # for bars and their numbers
TITLE = 80
SCALE = 10  # steps in the legend


class Word(NamedTuple):
    """Where a word stands in a text whose upper left corner is (0, 0)."""

    x: float
    y: float
    width: float
    text: str


class Text(NamedTuple):
    words: list[Word]
    begins: list[float]  # of each line of the panel, its y
    height: float


def text_of(shown: Window, top: float) -> Drawing:
    """`top` is the weight that has the strongest ground."""
    text = _set(shown)
    left = PAD + (GUTTER if shown.sides else 0)
    head = PAD + (30 if shown.title else 0)
    named = len(shown.rows) > 1
    tall = text.height + (34 if named else 10)  # of a copy
    begins = [head + t * tall + (22 if named else 0) for t in range(len(shown.rows))]
    height = head + max(len(begins), 1) * tall + 30
    right = max((word.x + word.width for word in text.words), default=0.0)
    foot = 200 + cells(shown.note) * 6.5
    width = round(max(left + right, left + foot, min(cells(shown.title), TITLE) * 10 + PAD) + PAD)
    shapes: list[Shape] = [Box(0, 0, width, round(height), "paper")]
    for t, y in enumerate(begins):
        shapes += [*_grounds(shown, text, t, left, y, top), *_bars(shown, text, left, y)]
    shapes += [*_legend(left, height - PAD - 10)]
    if shown.title:
        shapes.append(Words(PAD, PAD + 14, cut(shown.title, TITLE), 16, bold=True))
    for t, y in enumerate(begins):
        shapes += [*_letters(shown, text, t, left, y, named)]
    shapes += [*_numbers(left, height - PAD - 1, top, shown.note)]
    return Drawing(width, round(height), shapes, cut(shown.title, TITLE))


def _set(shown: Window) -> Text:
    """The words in lines no longer than WIDE, each line of the panel in its own direction of reading."""
    words: list[Word] = []
    begins, y, first = [], 0.0, 0
    for count in shown.lines:
        labels = shown.columns[first : first + count]
        begins.append(y)
        placed = _wrapped(labels, y)
        words += placed
        y = (placed[-1].y if placed else y) + STEP
        first += count
    return Text(words, begins, y)


def _wrapped(labels: Sequence[str], y: float) -> list[Word]:
    backwards = leftwards(" ".join(labels))
    x, placed = 0.0, []
    for label in labels:
        text = cut(label, LONGEST)
        width = max(_length(text), 5) + GAP
        if x > 0 and x + width > WIDE:
            x, y = 0.0, y + STEP
        placed.append(Word(WIDE - x - width if backwards else x, y, width, text))
        x += width
    return placed


def _length(text: str) -> float:
    thin, broad = (sum(letter in kind for letter in text) for kind in (THIN, BROAD))
    return (cells(text) - 0.45 * thin + 0.4 * broad) * FONT * LETTER


def _grounds(shown: Window, text: Text, t: int, left: float, top_y: float, top: float) -> Iterator[Shape]:
    row = shown.weights[t].tolist()
    for j, (word, weight) in enumerate(zip(text.words, row, strict=True)):
        share = weight / top if top > 0 else 0.0
        about = f"{shown.rows[t]} ← {shown.columns[j]}: {weight:.6f}"
        yield Box(left + word.x, top_y + word.y, word.width - 1, STEP - 4, "glow", share, "cell", about)
        if (t, j) in shown.marked or j in shown.span:
            yield Box(left + word.x + 3, top_y + word.y + STEP - 5.5, word.width - 7, 1, "mark", kind="mark")


def _bars(shown: Window, text: Text, left: float, top_y: float) -> Iterator[Shape]:
    longest = max(shown.sides, default=0.0)
    for side, y in zip(shown.sides, text.begins, strict=True) if shown.sides else ():
        length = BAR * side / longest if longest > 0 else 0.0
        yield Box(left - BAR - 8, top_y + y + 5, BAR, 10, "grid")
        yield Box(left - BAR - 8, top_y + y + 5, round(length, 2), 10, "w", about=f"{side:.6f}")


def _letters(shown: Window, text: Text, t: int, left: float, top_y: float, named: bool) -> Iterator[Shape]:
    if named:
        yield Words(PAD, top_y - 6, cut(shown.rows[t], TITLE), 12, "faint", bold=True, kind="label")
    for side, y in zip(shown.sides, text.begins, strict=True) if shown.sides else ():
        yield Words(left - BAR - 14, top_y + y + 14, f"{side:.2f}", 11, "faint", "right")
    for word, label in zip(text.words, shown.columns, strict=True):
        middle = left + word.x + (word.width - 1) / 2
        about = label if word.text != label else ""
        yield Words(middle, top_y + word.y + 15, word.text, FONT, edge="middle", kind="label", about=about)


def _legend(left: float, y: float) -> Iterator[Shape]:
    for step in range(SCALE):
        yield Box(left + 12 + 10 * step, y, 10, 10, "glow", (step + 0.5) / SCALE)


def _numbers(left: float, y: float, top: float, note: str) -> Iterator[Shape]:
    yield Words(left, y, "0", 11, "faint")
    yield Words(left + 18 + 10 * SCALE, y, f"{top:.2f}", 11, "faint")
    if note:
        yield Words(left + 170, y, note, 11, "faint")
