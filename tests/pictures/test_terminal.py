import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.pictures.labels import cells, printable
from regard.pictures.terminal import RAMP, SHADES, heat_map

LABELS = st.text(alphabet="abcé東京ーन\u093fद\u0941🎉❤\ufe0fא ب\x1b\t\u0301", max_size=14)
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def plain(picture: str) -> list[str]:
    return ESCAPE.sub("", picture).replace("\u200e", "").split("\n")


def identity(rows: list[str], columns: list[str]) -> list[list[float]]:
    return [[float(i % len(columns) == j) for j in range(len(columns))] for i in range(len(rows))]


@settings(deadline=None)
@given(
    st.lists(LABELS, min_size=1, max_size=7),
    st.lists(LABELS, min_size=1, max_size=40),
    st.integers(20, 100),
    st.booleans(),
)
def test_no_line_is_wider_than_asked(rows: list[str], columns: list[str], width: int, colour: bool) -> None:
    picture = heat_map(identity(rows, columns), rows, columns, width=width, colour=colour)
    assert max(map(cells, plain(picture))) <= width


@settings(deadline=None)
@given(st.lists(LABELS, min_size=1, max_size=7), st.lists(LABELS, min_size=1, max_size=40), st.booleans())
def test_every_label_is_there_in_order(rows: list[str], columns: list[str], colour: bool) -> None:
    lines = plain(heat_map(identity(rows, columns), rows, columns, width=240, colour=colour))
    heads = lines[0 :: len(rows) + 2][:-1]  # a head, the rows, an empty line; the last is the legend
    text, at = "\n".join(heads), 0
    for label in map(printable, columns):
        at = text.index(label, at) + len(label)
    for start in range(0, len(heads) * (len(rows) + 2), len(rows) + 2):
        block = lines[start + 1 : start + 1 + len(rows)]
        assert all(line.lstrip().startswith(label) for line, label in zip(block, map(printable, rows), strict=True))


@settings(deadline=None)
@given(st.lists(LABELS, min_size=1, max_size=5), st.lists(LABELS, min_size=1, max_size=9))
def test_without_colour_there_is_no_escape_code(rows: list[str], columns: list[str]) -> None:
    assert "\x1b" not in heat_map(identity(rows, columns), rows, columns, colour=False)


def test_with_colour_every_line_ends_reset() -> None:
    lines = heat_map([[0.9, 0.1]], ["x"], ["a", "b"], colour=True).split("\n")
    assert lines[1] == f"x \x1b[48;5;{RAMP[-1]}m   \x1b[48;5;{RAMP[1]}m   \x1b[0m"
    assert all(line.count("\x1b[48") == 0 or "\x1b[0m" in line for line in lines)


def test_a_small_map_drawn_by_hand() -> None:
    weights = [[0.9, 0.04, 0.06], [0.3, 0.0, 0.7], [0.46, 0.54, 0.0]]
    assert heat_map(weights, ["K", "AH", "T"], ["c", "u", "t"], colour=False).split("\n") == [
        "   c  u  t",
        " K ██ ·  ░░",
        "AH ▒▒ ·  ██",
        " T ▓▓ ▓▓ ·",
        "",
        "0 ·░▒▓█ 0.90   rows: output, columns: source",
    ]


@pytest.mark.parametrize("seed", range(5))
def test_darkest_shade_is_on_the_largest_weight(seed: int) -> None:
    weights = np.random.default_rng(seed).dirichlet(np.full(11, 0.3), size=7)
    rows, columns = [f"r{i}" for i in range(7)], [f"{i:02}" for i in range(11)]
    lines = heat_map(weights, rows, columns, colour=False).split("\n")
    for row in range(7):
        shades = [SHADES.index(lines[row + 1][3 + 3 * column]) for column in range(11)]
        assert shades[int(weights[row].argmax())] == max(shades)
        assert [shade for _, shade in sorted(zip(weights[row], shades, strict=True))] == sorted(shades)
    top = np.unravel_index(weights.argmax(), weights.shape)
    assert lines[int(top[0]) + 1][3 + 3 * int(top[1])] == "█"


def test_wide_letters_stand_over_their_cells() -> None:
    lines = heat_map([[0.0, 1.0], [1.0, 0.0]], ["東京", "a"], ["日本語", "x"], colour=False).split("\n")
    assert lines[:3] == ["     日本語 x", "東京   ·    ██", "   a ██████ ·"]


def test_many_columns_go_into_blocks_of_about_one_size() -> None:
    lines = heat_map(np.eye(40), ["r"] * 40, ["abcd"] * 40, colour=False).split("\n")
    heads = [len(line.split()) for line in lines if "abcd" in line]
    assert sum(heads) == 40
    assert max(heads) - min(heads) <= 2


def test_columns_in_arabic_cannot_change_places() -> None:
    head = heat_map([[0.5, 0.5]], ["x"], ["ک", "ب"], colour=False).split("\n")[0]
    assert head == "  ک\u200e  ب\u200e"


def test_nothing_to_draw() -> None:
    assert heat_map([], [], ["a"], colour=False).split("\n")[0].strip() == "a"
    assert "x" in heat_map([[]], ["x"], [], colour=False)
    assert heat_map([[0.0]], ["x"], ["a"], colour=False).split("\n")[1] == "x ·"
