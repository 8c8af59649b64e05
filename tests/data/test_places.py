"""Tokens know their place in the text, and answers are found in it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from regard.data.places import CUTTERS, cover_span, find_span, find_tokens
from regard.data.text import JOINER, Words
from regard.errors import UsageError

every = pytest.mark.parametrize("symbols", CUTTERS)
texts = st.text(st.sampled_from("abÄß \t\n.,'’-_￭▁ िकe\u0301\u200d👍🏽"), max_size=30) | st.text(max_size=30)


@every
@given(text=texts)
@example(text=f"a{JOINER}b {JOINER} ■")
@example(text="\u0301 a\r\nb\x1cc\u2028d")
def test_a_token_is_what_stands_in_its_place(symbols: str, text: str) -> None:
    tokens = find_tokens(text, symbols)
    assert [text[one.begin : one.end] for one in tokens] == [one.text for one in tokens]
    between = [one.end for one in tokens], [one.begin for one in tokens]
    for end, begin in zip([0, *between[0]], [*between[1], len(text)], strict=True):
        assert not text[end:begin].strip()  # nothing but white space is left out, and nothing stands twice
        assert end <= begin
    assert all(one.text and not one.text.isspace() for one in tokens)


@given(text=texts)
def test_words_are_cut_as_the_segmenter_does(text: str) -> None:
    plain = text.replace(JOINER, "")
    assert [one.text for one in find_tokens(plain, "words")] == [one.strip(JOINER) for one in Words().split(plain)]


def test_by_hand() -> None:
    assert find_tokens("  Don't go.", "words") == [
        ("Don", 2, 5), ("'", 5, 6), ("t", 6, 7), ("go", 8, 10), (".", 10, 11),
    ]  # fmt: skip
    assert find_tokens("Don't go.", "tokens") == [("Don't", 0, 5), ("go.", 6, 9)]
    assert [one.text for one in find_tokens("नमस्ते a", "graphemes")] == ["न", "म", "स्ते", "a"]


def test_subwords_have_no_places() -> None:
    with pytest.raises(UsageError, match=r"source\.symbols=subwords"):
        find_tokens("a", "subwords")


TOKENS = find_tokens("The cat sat. the Cat ran, the cat sat", "words")


@pytest.mark.parametrize(
    ("wanted", "near", "found"),
    [
        (["cat"], 0, (1, 1)),
        (["cat"], 16, (5, 5)),
        (["the", "cat"], 25, (8, 9)),
        (["the", "cat", "sat"], 12, (0, 2)),
        (["the", "cat", "sat"], 20, (8, 10)),
        (["cat", "the"], 0, None),
        (["ca"], 0, None),
        ([], 0, None),
        (["the"] * 20, 0, None),
    ],
)
def test_an_answer_is_found_nearest_to_a_character(wanted: list[str], near: int, found: tuple[int, int] | None) -> None:
    assert find_span(TOKENS, wanted, near) == found


@pytest.mark.parametrize(("begin", "end", "found"), [(4, 7, (1, 1)), (5, 9, (1, 2)), (3, 4, None), (0, 12, (0, 3))])
def test_characters_are_covered_by_tokens(begin: int, end: int, found: tuple[int, int] | None) -> None:
    assert cover_span(TOKENS, begin, end) == found
