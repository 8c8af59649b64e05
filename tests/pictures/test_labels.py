from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.pictures.labels import cells, cut, leftwards, printable


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("東京", 4),
        ("ｶﾅ", 2),
        ("Ａ", 2),
        ("한", 2),
        ("e\u0301", 1),
        ("दु", 1),
        ("नि", 2),
        ("🎉", 2),
        ("❤\ufe0f", 2),
        ("a\u200db", 2),
        ("", 0),
    ],
)
def test_cells(text: str, columns: int) -> None:
    assert cells(text) == columns


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("a", "a"),
        ("स्ते", "स्ते"),
        ("", "∅"),
        (" ", "␣"),
        ("a\u00a0b", "a b"),
        ("turn of  four words", "turn of four words"),
        (" a b", "␣a b"),
        ("a ", "a␣"),
        ("\u0301", "◌\u0301"),
        ("\u093f", "◌\u093f"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\tb\n", "a\\tb\\n"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("\u2028", "\\u2028"),
        ("क्\u200dष", "क्\u200dष"),
        ("\u200d", "\\u200d"),
        ("￭.", "."),
        ("￭'￭", "'"),
        ("￭", "￭"),
    ],
)
def test_printable(label: str, shown: str) -> None:
    assert printable(label) == shown


@settings(deadline=None)
@given(st.text())
def test_printable_text_has_one_line_no_control_and_some_width(label: str) -> None:
    shown = printable(label)
    assert shown == shown.strip()
    assert not {category(character) for character in shown.replace(" ", "")} & {"Cc", "Cs", "Zs", "Zl", "Zp"}
    assert len(shown.splitlines()) == 1
    assert cells(shown) > 0
    assert not set(shown) & set("\x1b\x9b\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


@settings(deadline=None)
@given(st.text(alphabet="aé東e\u0301न\u093f🎉"), st.integers(1, 12))
def test_cut_never_exceeds_and_keeps_what_fits(text: str, width: int) -> None:
    shown = cut(text, width)
    assert cells(shown) <= width
    assert shown == text or (cells(text) > width and shown.endswith("…") and text.startswith(shown[:-1]))
    assert shown == text or cells(shown) >= width - 1


@pytest.mark.parametrize(("text", "expected"), [("abc", False), ("اردو", True), ("123 שלום", True), ("12", False)])
def test_leftwards(text: str, expected: bool) -> None:
    assert leftwards(text) is expected
