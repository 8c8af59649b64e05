from hypothesis import given
from hypothesis import strategies as st

from regard.pictures.labels import cells
from regard.pictures.listing import listing

WEIGHTS = [[0.9, 0.08, 0.02], [0.3, 0.3, 0.4]]


def test_each_output_symbol_with_what_it_looked_at_the_heaviest_first() -> None:
    assert listing(WEIGHTS, ["X", "YY"], ["a", "b", "c"]).splitlines() == [
        " X ← a 0.90",
        "YY ← c 0.40  a 0.30  b 0.30",
        "",
        "output ← source, weights from 0.09",
    ]


def test_symbols_that_occur_twice_have_their_place() -> None:
    lines = listing(WEIGHTS, ["X", "YY"], ["t", "b", "t"]).splitlines()
    assert lines[1] == "YY ← t(3) 0.40  t(1) 0.30  b 0.30"


@given(
    st.lists(st.text(max_size=40), min_size=1, max_size=4),
    st.lists(st.text(max_size=40), min_size=1, max_size=9),
    st.integers(20, 120),
)
def test_no_line_is_too_long(rows: list[str], columns: list[str], width: int) -> None:
    drawn = listing([[1 / len(columns)] * len(columns)] * len(rows), rows, columns, width=width)
    assert len(drawn.splitlines()) == len(rows) + 2
    assert max(map(cells, drawn.splitlines())) <= width


def test_nothing_to_list() -> None:
    assert listing([[]], ["x"], []).splitlines()[0] == "x ←"
