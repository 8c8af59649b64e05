import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.vocabulary import BEGIN, END, PAD, REPLACEMENT, SPECIALS, UNKNOWN, Vocabulary
from regard.errors import DataError

sequences = st.lists(st.lists(st.text(min_size=1, max_size=3)), min_size=1).filter(any)


def test_the_frequent_come_first_and_equals_by_alphabet() -> None:
    vocabulary = Vocabulary.build([["b", "c"], ["c", "a"]])
    assert vocabulary.to_list() == [*SPECIALS, "c", "a", "b"]
    assert (PAD, UNKNOWN, BEGIN, END) == (0, 1, 2, 3)
    assert vocabulary.encode(["a", "b", "c"]) == [5, 6, 4]


def test_order_of_the_text_does_not_matter() -> None:
    assert Vocabulary.build([["x", "y"], ["z"]]) == Vocabulary.build([["z", "y"], ["x"]])


def test_least_and_most() -> None:
    text = [["a", "a", "a", "b", "b", "c"]]
    assert Vocabulary.build(text, least=2).to_list()[4:] == ["a", "b"]
    assert Vocabulary.build(text, most=1).to_list()[4:] == ["a"]


def test_unknown_symbols_are_numbered_shown_and_reported() -> None:
    vocabulary = Vocabulary.build([["a"]])
    assert vocabulary.encode(["a", "z", "a", "y", "z"]) == [4, UNKNOWN, 4, UNKNOWN, UNKNOWN]
    assert vocabulary.decode([BEGIN, 4, UNKNOWN, END, PAD]) == ["a", REPLACEMENT]
    assert vocabulary.unknown(["a", "z", "a", "y", "z"]) == ["z", "y"]
    assert "a" in vocabulary
    assert "z" not in vocabulary


def test_text_cannot_spell_a_special() -> None:
    vocabulary = Vocabulary.build([["a", "<pad>", "<end>"]])
    assert len(vocabulary) == 5
    assert vocabulary.encode(["<pad>", "<end>"]) == [UNKNOWN, UNKNOWN]
    assert "<pad>" not in vocabulary


@given(sequences)
def test_encode_and_decode_are_inverse(texts: list[list[str]]) -> None:
    vocabulary = Vocabulary.build(texts)
    for text in texts:
        numbers = vocabulary.encode(text)
        assert vocabulary.decode([BEGIN, *numbers, END, PAD]) == text
        assert all(END < number < len(vocabulary) for number in numbers)
        assert vocabulary.unknown(text) == []


@given(sequences)
def test_a_list_brings_it_back(texts: list[list[str]]) -> None:
    vocabulary = Vocabulary.build(texts)
    assert Vocabulary.from_list(vocabulary.to_list()) == vocabulary


def test_one_symbol_is_enough_and_none_is_too_few() -> None:
    assert len(Vocabulary.build([["a", "a"]])) == 5
    with pytest.raises(DataError, match="no symbols: every source was empty"):
        Vocabulary.build([[], []])
    with pytest.raises(DataError, match="none of 2 appears 3 times"):
        Vocabulary.build([["a", "b"]], least=3)


def test_it_cannot_be_changed() -> None:
    vocabulary: Any = Vocabulary.build([["a"]])
    with pytest.raises(dataclasses.FrozenInstanceError):
        vocabulary.symbols = ("b",)
    vocabulary.to_list().append("b")
    assert len(vocabulary) == 5


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ({"a": 1}, "must be a list of symbols, found dict"),
        ([*SPECIALS, "a", 7], "symbol 5 of the vocabulary is 7, expected text"),
        (["a", "b"], "must begin with <pad> <unknown> <begin> <end>, found a b"),
        ([], "must begin with"),
        ([*SPECIALS], "no symbols"),
        ([*SPECIALS, "a", "b", "a"], "symbol 'a' stands twice"),
        ([*SPECIALS, "a", "<pad>"], "symbol '<pad>' stands twice"),
    ],
)
def test_a_damaged_list_is_refused(symbols: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Vocabulary.from_list(symbols)
