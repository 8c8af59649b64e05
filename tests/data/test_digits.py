"""Digits look like what they are called."""

import io

import numpy as np
from PIL import Image

from regard.data.corpora.canvas import chance
from regard.data.corpora.digits import HEIGHT, LONGEST, SHORTEST, pictures, rows, strokes, texts


class Steady(np.random.Generator):
    """A hand that does not shake."""

    def uniform(self, low, high, size):  # type: ignore[no-untyped-def,override]
        return np.zeros(size)


def test_a_shaken_digit_is_nearest_to_its_own_steady_one() -> None:
    steady = {digit: strokes(digit, Steady(np.random.PCG64(0))) for digit in "0123456789"}
    right = 0
    for number in range(200):
        digit = str(number % 10)
        shaken = strokes(digit, chance(0, number))
        right += min(steady, key=lambda one: float(((steady[one] - shaken) ** 2).sum())) == digit
    assert right >= 195


def test_a_row_is_as_long_as_its_text() -> None:
    widths = [strokes("1" * count, chance(0)).shape[1] for count in range(1, 5)]
    steps = np.diff(widths)
    assert (steps > 0).all()
    assert steps.max() - steps.min() <= 1


def test_rows_and_pictures_fit_each_other() -> None:
    for text, row, (path, content) in zip(texts(50, 0), rows(50, 0), pictures(50, 0), strict=True):
        assert row.source == path
        assert row.target == row.key == text
        assert text.isdigit()
        assert SHORTEST <= len(text) <= LONGEST
        picture = Image.open(io.BytesIO(content))
        assert (picture.mode, picture.height) == ("L", HEIGHT)
