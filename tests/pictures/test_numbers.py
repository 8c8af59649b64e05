import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.pictures import Panel
from regard.pictures.numbers import from_json, to_dict, to_json

LABELS = st.lists(st.text(max_size=5), min_size=1, max_size=3)


@given(LABELS, LABELS, st.text(max_size=20), st.data())
def test_a_panel_comes_back_as_it_went(rows: list[str], columns: list[str], title: str, data: st.DataObject) -> None:
    weights = [[data.draw(st.floats(0, 1)) for _ in columns] for _ in rows]
    marked = frozenset({(0, len(columns) - 1)})
    text = to_json([Panel(weights, rows, columns, title, marked)])
    assert from_json(text) == [Panel(weights, rows, columns, title, marked)]
    assert text.isascii()
    assert "<" not in text


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=9))
def test_single_precision_is_written_short_and_read_exactly(numbers: list[float]) -> None:
    weights = np.array([numbers], dtype=np.float32)
    text = to_json([Panel(weights, ["x"], ["a"] * len(numbers))])
    back = np.array(from_json(text)[0].weights, dtype=np.float32)
    assert (back == weights).all()
    assert max(len(repr(one)) for one in json.loads(text)["panels"][0]["weights"][0]) <= 15


def test_a_tenth_in_single_precision_is_a_tenth() -> None:
    assert to_dict(Panel(np.array([[0.1]], dtype=np.float32), ["x"], ["a"]))["weights"] == [[0.1]]


def test_a_panel_with_everything_comes_back_as_it_went() -> None:
    panel = Panel(
        [[1.0, 0.0]], ["x"], ["a", "b"], "t", frozenset(), (1, 1), (0.4, 0.6), ("who", "where"), "map", (1, 2)
    )
    assert from_json(to_json([panel])) == [panel]


def test_marked_cells_are_in_order() -> None:
    assert to_dict(Panel(np.eye(2), "xy", "ab", marked=frozenset({(1, 0), (0, 1)})))["marked"] == [[0, 1], [1, 0]]
