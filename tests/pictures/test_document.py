"""Highlighted texts: every word once for every row, in lines, as strong as its weight; and the same in a terminal."""

import itertools
import re

import numpy as np
import pytest

from regard.pictures import Panel, draw_text
from regard.pictures.document import MOST_COPIES, MOST_WORDS, WIDE
from regard.pictures.drawing import Box, Drawing, Words
from regard.pictures.labels import cells as columns_of
from regard.pictures.sheet import sheet

LINES = (3, 5, 2)
WORDS = ["a", "good", "film", "but", "the", "plot", "is", "thin", ".", "end"]
WEIGHTS = np.array([[0.01, 0.4, 0.1, 0.04, 0.05, 0.1, 0.1, 0.1, 0.05, 0.05]])
PANEL = Panel(WEIGHTS, ["positive"], WORDS, "positive 0.93", frozenset({(0, 2)}), LINES, (0.5, 0.2, 0.3))


def grounds(drawing: Drawing) -> list[Box]:
    return [one for one in drawing.shapes if isinstance(one, Box) and one.kind == "cell"]


def letters(drawing: Drawing) -> list[Words]:
    return [one for one in drawing.shapes if isinstance(one, Words) and one.size == 15]


def test_each_word_stands_on_ground_as_strong_as_its_weight() -> None:
    drawing = sheet([PANEL])  # a panel with lines is a text by itself
    assert [one.text for one in letters(drawing)] == WORDS
    assert [one.opacity for one in grounds(drawing)] == pytest.approx((WEIGHTS[0] / 0.4).tolist())
    for word, ground in zip(letters(drawing), grounds(drawing), strict=True):
        assert ground.x < word.x < ground.x + ground.width
        assert ground.y < word.y < ground.y + ground.height
    assert grounds(drawing)[1].about == "positive ← good: 0.400000"


def test_a_line_of_the_panel_begins_a_line_with_its_weight_as_a_bar() -> None:
    drawing = sheet([PANEL])
    rows = [one.y for one in letters(drawing)]
    firsts = [0, 3, 8]
    assert [rows[one] for one in firsts] == sorted(set(rows))
    assert len({letters(drawing)[one].x - grounds(drawing)[one].width / 2 for one in firsts}) == 1
    bars = [one for one in drawing.shapes if isinstance(one, Box) and one.ink == "w"]
    assert [one.width / bars[0].width for one in bars] == pytest.approx([1, 0.4, 0.6])
    numbers = [one.text for one in drawing.shapes if isinstance(one, Words) and one.edge == "right"]
    assert numbers == ["0.50", "0.20", "0.30"]
    assert not [one for one in sheet([PANEL._replace(sides=())]).shapes if isinstance(one, Box) and one.ink == "w"]


def test_marked_words_are_underlined() -> None:
    drawing = sheet([PANEL])
    marks = [one for one in drawing.shapes if isinstance(one, Box) and one.ink == "mark"]
    ground = grounds(drawing)[2]
    assert len(marks) == 1
    assert ground.x <= marks[0].x < marks[0].x + marks[0].width <= ground.x + ground.width
    assert marks[0].y > ground.y + ground.height / 2


def test_several_rows_are_several_copies_each_with_its_name() -> None:
    weights = np.random.default_rng(1).dirichlet(np.ones(10), size=3)
    drawing = sheet([Panel(weights, ["row 1", "row 2", "row 3"], WORDS, "", frozenset(), (10,))])
    assert [one.text for one in letters(drawing)] == WORDS * 3
    assert [one.opacity for one in grounds(drawing)] == pytest.approx((weights / weights.max()).ravel().tolist())
    names = [one for one in drawing.shapes if isinstance(one, Words) and one.bold]
    assert [one.text for one in names] == ["row 1", "row 2", "row 3"]
    tops = [one.y for one in names]
    for number, top in enumerate(tops):
        copy = [one.y for one in letters(drawing)[10 * number : 10 * number + 10]]
        assert top < min(copy) <= max(copy) < [*tops, drawing.height][number + 1]


def test_long_lines_wrap_and_nothing_overlaps_or_leaves_the_paper() -> None:
    words = [f"word{'x' * (number % 13)}" for number in range(300)]
    drawing = sheet([Panel(np.ones((1, 300)) / 300, ["y"], words, "t", frozenset(), (100, 200))])
    boxes = grounds(drawing)
    assert max(one.x + one.width for one in boxes) <= min(WIDE + 16, drawing.width)
    assert max(one.y + one.height for one in boxes) < drawing.height
    for one, other in itertools.pairwise(boxes):
        assert other.x >= one.x + one.width or other.y >= one.y + one.height
    assert drawing.height < 3000


def test_a_right_to_left_line_begins_on_the_right() -> None:
    words = ["یہ", "کتاب", "ہے", "the", "book"]
    drawing = sheet([Panel(np.ones((1, 5)) / 5, ["y"], words, "", frozenset(), (3, 2))])
    x = [one.x for one in letters(drawing)]
    assert x[0] > x[1] > x[2]
    assert x[3] < x[4]


def test_of_a_long_document_the_first_words_are_drawn_and_the_rest_is_named() -> None:
    count = MOST_WORDS + 100
    panel = Panel(np.ones((50, count)), ["r"] * 50, ["w"] * count, "", frozenset(), (590, 20, 90), (0.1, 0.2, 0.7))
    drawing = sheet([panel])
    assert len(letters(drawing)) == MOST_COPIES * MOST_WORDS
    said = [one.text for one in drawing.shapes if isinstance(one, Words)]
    assert f"output tokens 1–{MOST_COPIES} of 50, source tokens 1–{MOST_WORDS} of {count}" in said
    assert "0.20" in said  # its line has begun
    assert "0.70" not in said


def test_lines_that_do_not_fit_are_refused() -> None:
    for wrong in (PANEL._replace(lines=(3, 5)), PANEL._replace(sides=(0.5,)), PANEL._replace(lines=(12, -2), sides=())):
        with pytest.raises(ValueError, match="do not fit"):
            sheet([wrong])


def test_each_panel_chooses_its_kind_and_kinds_have_scales_of_their_own() -> None:
    square = Panel(np.eye(2) * 5, ["1", "2"], ["1", "2"], "overlap", axes=("", ""))
    drawing = sheet([PANEL, square])
    assert max(one.opacity for one in grounds(drawing) if one.ink == "glow") == 1
    assert max(one.opacity for one in grounds(drawing) if one.ink == "w") == 1
    said = [one.text for one in drawing.shapes if isinstance(one, Words)]
    assert not {"output", "source"} & set(said)  # a look between rows has neither
    assert {"output", "source"} <= {one.text for one in sheet([PANEL], "map").shapes if isinstance(one, Words)}


# ---- in a terminal


def test_without_colour_brackets_say_how_strong() -> None:
    drawn = draw_text([PANEL], width=40)
    assert drawn.splitlines() == [
        "positive 0.93",
        "",
        "0.50 ██████ a [[[good]]] [_film_]",
        "0.20 ██     but the [plot] [is] [thin]",
        "0.30 ████   . end",
        "",
        "[] from 0.10, [[]] from 0.20, [[[]]] fr…",
    ]


def test_with_colour_the_ground_does_and_the_words_are_the_same() -> None:
    drawn = draw_text([PANEL], width=40, colour=True)
    assert "\x1b[48;5;229;38;5;16mgood\x1b[0m" in drawn
    assert "\x1b[4mfilm" in drawn
    bare = re.sub(r"\x1b\[[\d;]*m", "", drawn)
    assert bare.splitlines()[2:5] == [
        "0.50 ██████ a good film",
        "0.20 ██     but the plot is thin",
        "0.30 ████   . end",
    ]


@pytest.mark.parametrize("colour", [False, True])
def test_no_line_is_wider_than_told_and_every_row_is_there(colour: bool) -> None:
    weights = np.random.default_rng(2).dirichlet(np.ones(60), size=2)
    panel = Panel(weights, ["row 1", "row 2"], [f"word{j}" for j in range(60)], "t", frozenset(), (30, 30), (0.4, 0.6))
    drawn = re.sub(r"\x1b\[[\d;]*m", "", draw_text([panel], width=40, colour=colour))
    assert max(map(columns_of, drawn.splitlines())) <= 40
    assert len(re.findall(r"word59\b", drawn)) == 2
    assert "row 1:\n" in drawn
    assert "row 2:\n" in drawn
