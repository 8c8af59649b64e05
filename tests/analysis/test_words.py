"""Weights of symbols become weights of words and stay shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.analysis.words import merge
from regard.data.words import Word, words
from tests.data.test_words import LETTERS, half


def test_pieces_of_a_source_word_add_up_and_steps_of_a_target_word_are_averaged() -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]])  # (T, S)
    source = [Word("ab", range(2)), Word("c", range(2, 3))]
    target = [Word("x", range(1)), Word("yz", range(1, 3))]
    assert merge(weights, target, source) == pytest.approx(np.array([[0.3, 0.7], [0.3, 0.7]]))


@given(seed=st.integers(0, 999), text=LETTERS)
def test_merged_rows_still_sum_to_one(seed: int, text: str) -> None:
    one = half("subwords")
    symbols = one.segmenter.split(text)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(symbols)), len(symbols))  # (T, S)
    groups = words(one, symbols, "words")
    assert merge(weights, groups, groups).sum(1) == pytest.approx(np.ones(len(groups)))
