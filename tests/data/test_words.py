"""Symbols become the words of the line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.text import SEGMENTERS, Subwords
from regard.data.vocabulary import Vocabulary
from regard.data.words import Word, natural_level, words
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
