import re

import numpy as np
import pytest

from regard.pictures import draw_text
from regard.pictures.labels import LEFT_TO_RIGHT, cells
from regard.pictures.mosaic import resampled
from tests.pictures.drawn import on_clip, on_plane


@pytest.mark.parametrize(("down", "across"), [(1, 1), (3, 5), (2, 7), (6, 10), (7, 11)])
def test_no_weight_is_lost_on_another_grid(down: int, across: int) -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(15)).reshape(3, 5)
    found = resampled(weights, down, across)
    assert found.sum() == pytest.approx(1)
    if (down, across) == (3, 5):
        assert found == pytest.approx(weights)
    if (down, across) == (6, 10):
        assert found == pytest.approx(np.kron(weights, np.full((2, 2), 0.25)))


def test_one_cell_is_one_spot_in_its_place() -> None:
    text = draw_text([on_plane(["x"], weights=np.eye(6)[[4]], title="")])
    name, *lines = text.splitlines()[:6]
    assert name == "x"
    assert lines[0] == "··············"
    assert lines[4].strip("·░▒▓") == "████"
    assert lines[4].index("█") == 5


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("width", [20, 43, 80])
def test_no_line_is_wider_than_told(width: int, colour: bool) -> None:
    long = on_plane(["word", "ایک", "漢字漢字漢字漢字漢字", "e\u0301" * 30] * 5, (14, 14))
    wide = on_plane(list("یہ کتاب") * 9, (3, 60), line=True)
    for panel, kind in (
        (long, "auto"),
        (wide, "overlay"),
        (wide, "places"),
        (wide, "animation"),
        (on_clip(["a"], 50), "auto"),
    ):
        plain = re.sub(r"\x1b\[[0-9;]*m", "", draw_text([panel], width=width, colour=colour, kind=kind))
        assert max(map(cells, plain.splitlines())) <= width


def test_every_symbol_of_a_line_is_named_in_the_order_of_its_place() -> None:
    panel = on_plane(list("کتاب"), (1, 12), weights=np.eye(12)[[10, 7, 4, 1]], line=True, title="")
    line = draw_text([panel], width=48).splitlines()[0].replace(LEFT_TO_RIGHT, "")
    assert line.split() == list("باتک")
    assert [line.index(letter) // 4 for letter in "کتاب"] == [10, 7, 4, 1]


def test_symbols_of_one_place_stand_in_lines_above_each_other() -> None:
    panel = on_plane(list("abc"), (1, 12), weights=np.eye(12)[[5, 5, 5]], line=True, title="")
    lines = draw_text([panel], width=48).splitlines()[:3]
    assert [line.strip() for line in lines] == ["c", "b", "a"]
