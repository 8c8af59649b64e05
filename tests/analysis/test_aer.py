"""Alignment error rate and its companions, against numbers worked by hand; and shifted attention is named."""

import math
import re

import numpy as np
import pytest

from regard.analysis.aer import MARGIN, Measures, count, measure, shifted, verdict
from regard.analysis.align import Looked, link, measure_shifts
from regard.analysis.linking import heaviest
from regard.data.links import Link, Links


def test_worked_by_hand() -> None:
    """A = {0-0, 1-1, 2-2, 3-0}, S = {0-0, 1-1, 2-3}, P = S ∪ {2-2}: |A∩S| = 2, |A∩P| = 3, |A| = 4, |S| = 3."""
    gold = Links.of([(0, 0), (1, 1), (2, 3)], [(2, 2)])
    weights = np.array([[0.7, 0.1, 0.1, 0.1], [0.3, 0.6, 0.1, 0.0], [0.2, 0.2, 0.4, 0.2], [0.0, 0.1, 0.0, 0.9]])
    found = frozenset({Link(0, 0), Link(1, 1), Link(2, 2), Link(3, 0)})
    measured = measure([count(weights, found, gold)])
    assert measured.aer == pytest.approx(1 - (2 + 3) / (4 + 3))
    assert measured.precision == pytest.approx(3 / 4)
    assert measured.recall == pytest.approx(2 / 3)
    assert measured.match == pytest.approx(3 / 4)  # target 3 looks at source 3, not at 2
    assert measured.mass == pytest.approx((0.7 + 0.6 + 0.4 + 0.0) / 4)


def test_perfect_and_empty() -> None:
    gold = Links.of([(0, 0), (1, 1)])
    assert measure([count(np.eye(2), gold.sure, gold)]) == Measures(0, 1, 1, 1, 1)
    nothing = measure([count(np.zeros((2, 2)), frozenset(), gold)])
    assert nothing.aer == 1
    assert math.isnan(nothing.precision)
    assert (nothing.recall, nothing.match, nothing.mass) == (0, 0, 0)


def test_possible_links_cost_nothing_either_way() -> None:
    gold = Links.of([(0, 0)], [(1, 1)])
    for found in (gold.sure, gold.possible):
        assert measure([count(np.eye(2), found, gold)]).aer == 0


def test_sums_run_over_all_pairs() -> None:
    """A long pair weighs more than a short one."""
    long = count(np.eye(9), heaviest(np.eye(9)), Links.of((i, i) for i in range(9)))
    short = count(np.eye(1), heaviest(np.eye(1)), Links.of([], []))
    assert measure([long, short]).precision == pytest.approx(9 / 10)


def test_words_without_a_link_are_not_asked() -> None:
    measured = measure([count(np.eye(3), heaviest(np.eye(3)), Links.of([(0, 0), (2, 1)]))])
    assert measured.match == pytest.approx(1 / 2)
    assert measured.mass == pytest.approx(1 / 2)


def test_shifting_moves_rows() -> None:
    weights = np.arange(6.0).reshape(3, 2)
    assert shifted(weights, 1).tolist() == [[0, 0], [0, 1], [2, 3]]
    assert shifted(weights, -1).tolist() == [[2, 3], [4, 5], [0, 0]]
    assert shifted(weights, 0).tolist() == weights.tolist()
    assert not shifted(weights[:1], 1).any()


PERMUTATION = [3, 0, 1, 4, 2, 6, 5]  # neither forward nor backward: only the right shift can find it


@pytest.mark.parametrize(("places", "said"), [(1, "shift -1"), (-1, r"shift \+1"), (0, "Not off by one")])
def test_attention_that_stands_aside_is_named(places: int, said: str) -> None:
    gold = Links.of((source, target) for target, source in enumerate(PERMUTATION))
    weights = shifted(np.eye(7)[PERMUTATION], places)
    measured = measure_shifts([Looked(["s"] * 7, ["t"] * 7, weights)], [gold], heaviest)
    assert measured[-places].match == pytest.approx(1 if places == 0 else 6 / 7)
    assert measured[-places].aer == pytest.approx(0 if places == 0 else 1 - 12 / 13)
    assert re.search(said, verdict(measured))


def test_the_margin_decides() -> None:
    base = Measures(0.5, 0.5, 0.5, 0.5, 0.5)
    little, enough = (base._replace(match=0.5 + MARGIN + more) for more in (-0.01, 0.01))
    assert verdict({-1: little, 0: base, 1: base}).startswith("Not off by one")
    assert verdict({-1: enough, 0: base, 1: base}).startswith("Off by one")
    assert "word before it" in verdict({-1: enough, 0: base, 1: base})
    assert "word after it" in verdict({-1: base, 0: base, 1: enough})


def test_both_directions_are_turned_the_same_way_and_shifted_along_what_they_write() -> None:
    """Links s → t: 0-1, 1-2, 2-0; the backward weights have sources as rows."""
    order = [2, 0, 1]  # target t looks at source order[t]
    forward = np.eye(3)[order]  # (T, S)
    looked = Looked(["s"] * 3, ["t"] * 3, forward, forward.T)
    assert link(looked, heaviest, "intersect") == {(0, 1), (1, 2), (2, 0)}
    aside = looked._replace(weights=shifted(forward, 1), backward=shifted(forward.T, 1))
    assert link(aside, heaviest, "union", shift=-1) == {(0, 1), (1, 2), (2, 0)}
