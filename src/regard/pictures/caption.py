"""A caption set in lines under a picture, one of its words underlined."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from regard.pictures.document import BROAD, LETTER, THIN
from regard.pictures.drawing import Box, Shape, Words
from regard.pictures.labels import cells, cut, leftwards

LONGEST = 24  # columns of a word
BLANK = 0.32  # between words, in heights of the font
STEP = 1.5  # from one line to the next


class Word(NamedTuple):
    x: float
    y: float
    width: float
    text: str


class Caption(NamedTuple):
    words: list[Word]
    font: float
    height: float


def set_caption(labels: Sequence[str], wide: float, font: float, centred: bool = False) -> Caption:
    """In lines no longer than `wide`, in the direction of reading."""
    texts = [cut(label, LONGEST) for label in labels]
    lines: list[list[tuple[str, float]]] = [[]]
    for text in texts:
        width = reach(text, font)
        if lines[-1] and _length(lines[-1], font) + width > wide:
            lines.append([])
        lines[-1].append((text, width))
    backwards, words = leftwards(" ".join(texts)), []
    for number, line in enumerate(lines):
        x = (wide - _length(line, font) + font * BLANK) / 2 if centred else 0.0
        for text, width in line:
            words.append(Word(wide - x - width if backwards else x, (number + 1) * font * STEP, width, text))
            x += width + font * BLANK
    return Caption(words, font, len(lines) * font * STEP)


def draw_caption(caption: Caption, x: float, y: float, without: int | None = None) -> Iterator[Shape]:
    """All words but one, faint, under `y`."""
    for place, word in enumerate(caption.words):
        middle = x + word.x + word.width / 2
        if place != without:
            yield Words(middle, y + word.y, word.text, caption.font, "faint", "middle", kind="label")


def underlined(caption: Caption, x: float, y: float, now: int) -> Iterator[Shape]:
    """The word `now` of a caption that is drawn there: over its faint letters, and a line under them."""
    word = caption.words[now]
    yield Box(x + word.x, y + word.y + caption.font * 0.22, round(word.width, 2), max(caption.font * 0.12, 1.5), "line")
    yield Words(x + word.x + word.width / 2, y + word.y, word.text, caption.font, "ink", "middle", kind="label")


def reach(text: str, font: float) -> float:
    """How long a text is, about: thin letters and broad ones apart."""
    thin, broad = (sum(letter in kind for letter in text) for kind in (THIN, BROAD))
    return max((cells(text) - 0.45 * thin + 0.4 * broad) * font * LETTER, font * 0.4)


def _length(line: Sequence[tuple[str, float]], font: float) -> float:
    """Of the words with a blank after each."""
    return sum(width + font * BLANK for _, width in line)
