import numpy as np
import pytest

from regard.pictures.caption import reach
from regard.pictures.drawing import Box, Drawing, Picture, Words
from regard.pictures.places import FONT, places
from regard.pictures.sheet import sheet
from tests.pictures.drawn import on_plane

URDU = list("کتاب")


def at(*columns: int, of: int = 12) -> np.ndarray:
    """All the weight of a symbol in one column of cells, shared by two rows of them."""
    return np.stack([np.tile(np.eye(of)[column] / 2, 2) for column in columns])


def symbols(drawing: Drawing) -> list[Words]:
    return [one for one in drawing.shapes if isinstance(one, Words) and one.kind == "label"]


def test_the_centre_and_the_spread_by_hand() -> None:
    place = places(np.array([[0.5, 0.0, 0.0, 0.25], [0.25, 0.0, 0.0, 0.0]]))
    assert place.x == pytest.approx(0.75 * 0.125 + 0.25 * 0.875)
    assert place.y == pytest.approx(0.75 * 0.25 + 0.25 * 0.75)
    assert place.spread == pytest.approx(np.sqrt(0.75 * 0.25) * 0.75)
    assert places(np.zeros((2, 4)))[:2] == (0.5, 0.5)


def test_what_does_not_sum_to_one_has_the_same_centre() -> None:
    """A sentinel may have taken its part."""
    weights = np.random.default_rng(0).random((3, 5))
    assert places(weights / 7) == pytest.approx(places(weights))


def test_a_symbol_stands_above_its_place_whichever_way_the_script_runs() -> None:
    """The first letter of Urdu was read on the right: nothing is reversed, it stands there."""
    columns = [10, 7, 4, 1]
    drawing = sheet([on_plane(URDU, (2, 12), weights=at(*columns), line=True)])
    (line,) = [one for one in drawing.shapes if isinstance(one, Picture)]
    assert [one.text for one in symbols(drawing)] == URDU
    for symbol, column in zip(symbols(drawing), columns, strict=True):
        assert symbol.x == pytest.approx(line.x + (column + 0.5) / 12 * line.width)
        assert symbol.y < line.y
    dots = [one for one in drawing.shapes if isinstance(one, Box) and one.ink == "line"]
    assert [one.x + one.width / 2 for one in dots] == pytest.approx([one.x for one in symbols(drawing)])
    assert [one.y + one.height / 2 for one in dots] == pytest.approx([line.y + line.height / 2] * 4)


def test_symbols_do_not_stand_on_each_other() -> None:
    rows = ["m", "w", "m", "ا", "i"] * 6
    drawing = sheet([on_plane(rows, (2, 12), weights=at(*(t // 3 for t in range(30))), line=True)])
    found = symbols(drawing)
    for number, one in enumerate(found):
        for other in found[:number]:
            room = (reach(one.text, FONT) + reach(other.text, FONT)) / 2
            assert one.y != other.y or abs(one.x - other.x) >= room


def test_more_symbols_at_one_place_than_there_are_levels() -> None:
    drawing = sheet([on_plane(["m"] * 9, (2, 12), weights=at(*[5] * 9), line=True)])
    assert len(symbols(drawing)) == 9
    assert min(one.y for one in symbols(drawing)) > 30


def test_a_copy_of_the_line_for_each_symbol() -> None:
    panel = on_plane(URDU, (2, 12), weights=at(10, 7, 4, 1), line=True)
    drawing = sheet([panel], "overlay")
    assert [one.text for one in symbols(drawing)] == URDU
    assert len([one for one in drawing.shapes if isinstance(one, Picture)]) == 5 + 4
