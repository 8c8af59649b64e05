import numpy as np
import pytest

from regard.pictures import heat_map, svg
from regard.pictures.weights import checked, shares


@pytest.mark.parametrize(
    ("weights", "rows", "columns", "message"),
    [
        ([[1.0, 0.0]], ["a"], ["b"], r"\(1, 2\) do not fit 1 row and 1 column"),
        ([[1.0], [0.0]], ["a"], ["b", "c"], r"\(2, 1\)"),
        ([], ["a"], ["b"], r"\(0,\)"),
        ([[float("nan")]], ["a"], ["b"], "finite"),
        ([[-0.5]], ["a"], ["b"], "not negative"),
    ],
)
def test_what_is_not_weights_is_refused(
    weights: list[list[float]], rows: list[str], columns: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        checked(weights, rows, columns)


def test_lists_and_arrays_give_the_same_pictures() -> None:
    rows, columns, table = ["x", "y"], ["a", "b", "c"], [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]
    array = np.array(table, dtype=np.float32)
    assert svg(table, rows, columns) == svg(array, rows, columns)
    assert heat_map(table, rows, columns, colour=True) == heat_map(array, rows, columns, colour=True)


def test_largest_share_is_one_and_nothing_stays_nothing() -> None:
    assert shares(np.array([[0.1, 0.2], [0.4, 0.0]])).tolist() == [[0.25, 0.5], [1.0, 0.0]]
    assert shares(np.zeros((2, 3))).tolist() == [[0.0] * 3] * 2
