"""Where sentences end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.sentences import BREAK, join_lines, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains. We stay! Do we? 3 of us.", ["It rains.", "We stay!", "Do we?", "3 of us."]),
        ('He said "Go." Then left.', ['He said "Go."', "Then left."]),
        ('So. "Really?" (No.) Yes', ["So.", '"Really?"', "(No.)", "Yes"]),
        ("It cost 3.50 in the U.S.A. or so, e.g. here", ["It cost 3.50 in the U.S.A. or so, e.g. here"]),
        ("Mr. Chaplin met J. R. Ewing. Dr. No too.", ["Mr. Chaplin met J. R. Ewing.", "Dr. No too."]),
        ("So did I. But Mr", ["So did I.", "But Mr"]),
        ("One line\nAnother<br />a third<BR><br/>\n\na fourth", ["One line", "Another", "a third", "a fourth"]),
        ("Well… Wait... what? No", ["Well…", "Wait... what?", "No"]),
        ("यह घर है। वह घर नहीं।", ["यह घर है।", "वह घर नहीं।"]),
        ("我来了。你好！", ["我来了。", "你好！"]),
        ("no end", ["no end"]),
        ("<br />", ["<br />"]),
        ("...", ["..."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@given(st.text(alphabet="ab AI.!?\"')\n。"))
def test_nothing_is_lost_and_nothing_is_empty(text: str) -> None:
    found = split_sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    if text.strip():
        assert all(one == one.strip() != "" for one in found)


@given(st.text(alphabet="aA. <br/>\n"))
def test_one_line_has_the_same_words(text: str) -> None:
    joined = join_lines(text)
    assert joined.split() == (BREAK.sub(" ", text).split() or text.split())


def test_a_hostile_text_takes_no_longer_than_its_length() -> None:
    for sign in (" ", ".", '"', "<br ", "\n", ". ", "A"):
        split_sentences("x." + sign * 100_000)
