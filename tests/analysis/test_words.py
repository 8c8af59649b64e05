"""Symbols become the words of the line, and weights stay shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.analysis.words import Word, merge, natural_level, words
from regard.data.text import SEGMENTERS, Subwords
from regard.data.vocabulary import Vocabulary
from regard.tasks.codec import Half

TEXT = "the cats don't like seventy-two small, thorny sentences (or so)."
LETTERS = st.text("abc'-,. ", min_size=1, max_size=20).map(str.strip).filter(bool)
SUBWORDS = Subwords.train([TEXT, "a b c ab bc ca abc ' - , ."], 60)


def half(name: str) -> Half:
    segmenter = SUBWORDS if name == "subwords" else SEGMENTERS[name]()
    return Half(name, segmenter, Vocabulary.build([["x"]]))


@pytest.mark.parametrize("name", SEGMENTERS)
@pytest.mark.parametrize("text", [TEXT, "a", "ab c"])
def test_words_are_what_stands_between_spaces(name: str, text: str) -> None:
    one = half(name)
    found = words(one, one.segmenter.split(text), "words")
    assert [word.text for word in found] == text.split()


@pytest.mark.parametrize("name", SEGMENTERS)
@given(text=LETTERS)
def test_also_in_odd_texts_with_several_spaces(name: str, text: str) -> None:
    one = half(name)
    symbols = one.segmenter.split(text)
    found = words(one, symbols, "words")
    assert [word.text for word in found] == text.split()
    assert [place for word in found for place in word.symbols] == list(range(len(symbols)))  # each in one word


def test_at_the_level_of_symbols_each_is_a_word() -> None:
    symbols = ["▁s", "ent", "ence"]
    assert words(half("subwords"), symbols, "symbols") == [Word(s, range(i, i + 1)) for i, s in enumerate(symbols)]


def test_features_are_words_of_their_own() -> None:
    found = words(half("graphemes"), ["g", "o", "+V", "+PST"], "words", extra=2)
    assert [word.text for word in found] == ["go", "+V", "+PST"]


def test_the_level_follows_the_symbols() -> None:
    assert natural_level(half("tokens"), half("subwords")) == "words"
    assert natural_level(half("graphemes"), half("tokens")) == "symbols"
    assert natural_level(half("words"), half("graphemes")) == "symbols"


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
