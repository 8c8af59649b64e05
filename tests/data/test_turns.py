"""A conversation in one text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.turns import TURN, join_turns, split_turns, turn_lengths


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("hi ||| hello", ["hi", "hello"]),
        ("hi|||hello  |||  you?", ["hi", "hello", "you?"]),
        ("||| hi ||| ||| there |||", ["hi", "there"]),
        ("a || b", ["a || b"]),
        (" ||| ", []),
    ],
)
def test_turns_are_parted_and_empty_ones_left_out(text: str, turns: list[str]) -> None:
    assert split_turns(text) == turns


@given(st.text())
def test_no_turn_holds_the_border(text: str) -> None:
    turns = split_turns(text)
    assert not any(TURN in turn for turn in turns)
    if "|" not in text:
        assert split_turns(join_turns(turns)) == turns


def test_a_border_belongs_to_the_turn_before_it() -> None:
    assert turn_lengths(["a", "b", TURN, "c", TURN, "d", "e", "f"]) == [3, 2, 3]
    assert turn_lengths(["a"]) == [1]


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1), min_size=1))
def test_lengths_add_up(turns: list[list[str]]) -> None:
    symbols = [symbol for turn in turns for symbol in (*turn, TURN)][:-1]
    lengths = turn_lengths(symbols)
    assert sum(lengths) == len(symbols)
    assert len(lengths) == len(turns)
