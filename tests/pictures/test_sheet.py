import numpy as np
import pytest

from regard.errors import UsageError
from regard.pictures import Panel
from regard.pictures.drawing import Box, Drawing, Words
from regard.pictures.sheet import WIDEST, sheet

SMALL = Panel(np.eye(2) / 2, ["x", "y"], ["a", "b"], "small")
LARGE = Panel(np.eye(9), list("abcdefghi"), list("abcdefghi"), "large one")


def titles(drawing: Drawing) -> dict[str, tuple[float, float]]:
    return {
        one.text: (one.x, one.y) for one in drawing.shapes if isinstance(one, Words) and one.bold and one.size == 16
    }


def cells(drawing: Drawing) -> list[Box]:
    return [one for one in drawing.shapes if isinstance(one, Box) and one.kind == "cell"]


def test_columns_of_an_answer_have_one_outline_over_all_rows() -> None:
    drawing = sheet([LARGE._replace(span=(3, 6))], "map")
    (mark,) = [one for one in drawing.shapes if isinstance(one, Box) and one.kind == "mark"]
    grid = cells(drawing)
    inside = [one for one in grid if mark.x < one.x + one.width / 2 < mark.x + mark.width]
    assert inside == [one for place, one in enumerate(grid) if 3 <= place % 9 < 6]
    assert mark.y < grid[0].y + grid[0].height / 2
    assert mark.y + mark.height > grid[-1].y + grid[-1].height / 2


def test_words_of_an_answer_are_bold_among_lines_and_underlined_in_a_text() -> None:
    lines = sheet([SMALL._replace(span=(1, 2))], "lines")
    assert [one.text for one in lines.shapes if isinstance(one, Words) and one.kind == "label" and one.bold] == ["b"]
    text = sheet([SMALL._replace(span=(1, 2))], "text")
    assert sum(isinstance(one, Box) and one.kind == "mark" for one in text.shapes) == 2  # in each copy


@pytest.mark.parametrize("kind", ["map", "lines", "text"])
@pytest.mark.parametrize("across", [0, 1, 2, 3])
def test_panels_neither_overlap_nor_leave_the_sheet(kind: str, across: int) -> None:
    panels = [one._replace(title=f"{number} {one.title}") for number, one in enumerate([SMALL, LARGE] * 4)]
    drawing = sheet(panels, kind, across)
    sizes = [sheet([one], kind) for one in panels]
    corners = [(x - 16, y - 30) for x, y in (titles(drawing)[one.title] for one in panels)]
    frames = [(x, y, x + one.width, y + one.height) for (x, y), one in zip(corners, sizes, strict=True)]
    for number, (x, y, right, foot) in enumerate(frames):
        assert 0 <= x < right <= drawing.width
        assert 0 <= y < foot <= drawing.height
        for left, top, u, v in frames[:number]:
            assert x >= u or right <= left or y >= v or foot <= top


def test_one_scale_for_the_whole_sheet() -> None:
    """Otherwise flat attention looks as sure of itself as sharp attention beside it."""
    alone, together = cells(sheet([SMALL])), cells(sheet([SMALL, LARGE]))
    assert [one.opacity for one in alone] == [1, 0, 0, 1]
    assert [one.opacity for one in together[:4]] == [0.5, 0, 0, 0.5]
    assert max(one.opacity for one in together) == 1


def test_rows_are_as_long_as_told_and_their_columns_are_aligned() -> None:
    panels = [
        SMALL._replace(title="1"),
        SMALL._replace(title="2"),
        LARGE._replace(title="3"),
        SMALL._replace(title="4"),
        SMALL._replace(title="5"),
    ]
    at = titles(sheet(panels, across=2))
    assert at["1"][1] == at["2"][1] < at["3"][1] == at["4"][1] < at["5"][1]
    assert at["1"][0] == at["3"][0] == at["5"][0] < at["2"][0] == at["4"][0]


def test_as_many_in_a_row_as_fit() -> None:
    drawing = sheet([LARGE] * 20)
    assert WIDEST / 2 < drawing.width <= WIDEST


def test_unknown_kinds_and_empty_sheets_are_refused() -> None:
    with pytest.raises(
        UsageError, match="kind 'maps' came; there are map, lines, text, overlay, places, filmstrip, animation and auto"
    ):
        sheet([SMALL], "maps")
    with pytest.raises(UsageError, match="nothing to draw"):
        sheet([])
