"""Each number against scipy, a loop over its equation, or a value worked by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.spatial import distance

from regard.analysis.audit import measures
from regard.analysis.audit.measures import Array

ROWS = arrays(np.float64, (3, 5), elements=st.sampled_from([0.0, 0.1, 0.2, 0.4, 0.8]))  # with many ties


def distributions(seed: int) -> Array:
    return np.random.default_rng(seed).dirichlet(np.ones(7), 5)


def test_entropy_by_hand() -> None:
    weights = np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
    np.testing.assert_allclose(measures.entropy(weights), [0, math.log(2), math.log(4)])
    np.testing.assert_allclose(measures.entropy(distributions(1)), stats.entropy(distributions(1), axis=-1))


def test_total_variation_is_the_largest_difference_any_set_of_symbols_can_make() -> None:
    one, other = distributions(1), distributions(2)
    for p, q, found in zip(one, other, measures.total_variation(one, other), strict=True):
        sets = itertools.chain.from_iterable(itertools.combinations(range(7), size) for size in range(8))
        assert found == pytest.approx(max(abs(p[list(some)].sum() - q[list(some)].sum()) for some in sets))


def test_jensen_shannon_equals_that_of_scipy() -> None:
    one, other = distributions(1), distributions(2)
    np.testing.assert_allclose(measures.jensen_shannon(one, other), distance.jensenshannon(one, other, 2, axis=1) ** 2)
    apart = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert measures.jensen_shannon(*apart) == pytest.approx(1)
    assert measures.jensen_shannon(one, one).max() == pytest.approx(0, abs=1e-12)


@given(ROWS, ROWS)
def test_rank_correlations_equal_those_of_scipy(one: Array, other: Array) -> None:
    taus, rhos = measures.kendall(one, other), measures.spearman(one, other)
    for row in range(len(one)):
        if np.ptp(one[row]) == 0 or np.ptp(other[row]) == 0:  # scipy says nan: there is no order to agree with
            assert (taus[row], rhos[row]) == (0, 0)
        else:
            assert taus[row] == pytest.approx(stats.kendalltau(one[row], other[row]).statistic)
            assert rhos[row] == pytest.approx(stats.spearmanr(one[row], other[row]).statistic)


def test_hits_by_hand() -> None:
    weights = np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.25] * 3, [0.7, 0.2, 0.1]])
    importance = np.array([[3.0, 1, 2], [1, 3, 2], [1, 3, 2], [1, 3, 2], [0, 0, 0]])
    np.testing.assert_allclose(measures.hits(weights, importance), [1, 0, 1 / 2, 1 / 3, 0])


def test_above_chance_by_hand() -> None:
    assert measures.above_chance(0.25, 0.25) == 0
    assert measures.above_chance(1.0, 0.25) == 1
    assert measures.above_chance(0.625, 0.25) == pytest.approx(0.5)


def test_weights_are_moved_and_fall_off_the_end() -> None:
    weights = np.array([[0.1, 0.2, 0.7]])
    assert measures.moved_by(weights, 0).tolist() == [[0.1, 0.2, 0.7]]
    assert measures.moved_by(weights, 1).tolist() == [[0, 0.1, 0.2]]
    assert measures.moved_by(weights, -1).tolist() == [[0.2, 0.7, 0]]


def test_noise_is_no_change() -> None:
    assert measures.quiet(np.array([1e-12, -1e-12, -0.5, 2.0])).tolist() == [0, 0, 0.5, 2.0]
