import numpy as np
import pytest

from regard.pictures import Panel, draw_svg
from regard.pictures.drawing import Words
from regard.pictures.labels import leftwards
from regard.pictures.numbers import from_json
from regard.pictures.saving import FORMATS
from regard.pictures.sheet import sheet
from regard.pictures.window import MOST, heading, window

SIZE = 200
WEIGHTS = np.random.default_rng(5).dirichlet(np.ones(SIZE), size=SIZE)
BIG = Panel(
    WEIGHTS, [f"r{i}" for i in range(SIZE)], [f"c{i}" for i in range(SIZE)], "big", frozenset({(3, 5), (3, 150)})
)


def test_small_panels_are_shown_whole() -> None:
    shown = window(Panel(np.eye(MOST), ["x"] * MOST, ["a"] * MOST))
    assert shown.weights.shape == (MOST, MOST)
    assert shown.note == ""


def test_of_large_panels_the_first_symbols_are_shown_and_the_rest_is_named() -> None:
    shown = window(BIG)
    assert (shown.weights == WEIGHTS[:MOST, :MOST]).all()
    assert (shown.rows[-1], shown.columns[-1]) == ("r119", "c119")
    assert shown.marked == {(3, 5)}
    assert shown.note == "output tokens 1–120 of 200, source tokens 1–120 of 200"
    assert window(BIG._replace(weights=WEIGHTS[:7], rows=BIG.rows[:7])).note == "source tokens 1–120 of 200"


def test_both_kinds_say_what_is_missing_and_stay_legible() -> None:
    for kind in ("map", "lines"):
        drawing = sheet([BIG], kind)
        words = [one for one in drawing.shapes if isinstance(one, Words)]
        assert any("tokens 1–120 of 200" in one.text for one in words)
        assert min(one.size for one in words) >= 9
        assert max(drawing.width, drawing.height) < 3000


def test_the_numbers_in_the_file_are_all_of_them() -> None:
    picture = draw_svg([BIG]).encode()
    assert (np.array(from_json(FORMATS[".svg"].numbers(picture))[0].weights) == WEIGHTS).all()


@pytest.mark.parametrize(("source", "output"), [("שלום", "SH A L O M"), ("שלום", "מולש"), ("shalom", "שלום")])
def test_a_title_is_read_the_way_its_arrow_points(source: str, output: str) -> None:
    """An arrow between letters of one direction goes with them, unless marks beside it say otherwise."""
    title = heading(f"{source} → {output}")
    assert title.replace("\u200e", "") == f"{source} → {output}"
    assert not leftwards(title)
    assert "\u200e→\u200e" in title
    assert heading("körte → k ø r t ɛ") == "körte → k ø r t ɛ"
