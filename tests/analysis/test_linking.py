"""Links from weights, on a table small enough to read."""

import numpy as np
import pytest

from regard.analysis.linking import LINKERS, Threshold
from regard.errors import UsageError

WEIGHTS = np.array(
    [  # source 0, 1, 2
        [0.6, 0.3, 0.1],  # target 0
        [0.8, 0.2, 0.0],  # target 1
        [0.0, 0.0, 0.0],  # target 2 looks nowhere
        [0.4, 0.4, 0.2],  # target 3
    ]
)


def test_the_heaviest_of_each_row_and_the_first_of_equals() -> None:
    assert LINKERS["argmax"](WEIGHTS) == {(0, 0), (0, 1), (0, 3)}


def test_mutual_links_are_heaviest_both_ways() -> None:
    assert LINKERS["mutual"](WEIGHTS) == {(0, 1)}
    assert LINKERS["mutual"](np.eye(3)[::-1]) == {(0, 2), (1, 1), (2, 0)}


def test_threshold_takes_all_cells_that_reach_it() -> None:
    assert Threshold(0.4)(WEIGHTS) == {(0, 0), (0, 1), (0, 3), (1, 3)}
    assert Threshold(0.81)(WEIGHTS) == set()


@pytest.mark.parametrize("least", [0.0, -0.1, 1.1, float("nan")])
def test_a_threshold_is_a_weight(least: float) -> None:
    with pytest.raises(UsageError, match="above 0 and at most 1"):
        Threshold(least)
