import hashlib
import subprocess
import sys
import unicodedata

import grapheme
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.text import (
    JOINER,
    SEGMENTERS,
    Graphemes,
    Subwords,
    Tokens,
    Words,
    build_segmenter,
    normalise,
)
from regard.errors import DataError, UsageError

TEXTS = ["The cat sat on the mat.", "The dog didn't.", "A cat, a dog and a mat!", "नमस्ते दुनिया"] * 5
FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇮🇳"

# What normalise leaves, with single spaces inside and without the sign that is ours.
letters = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters=JOINER)
clean_words = st.text(letters, min_size=1).map(lambda word: unicodedata.normalize("NFC", word))
clean_texts = st.lists(clean_words.filter(lambda word: not any(map(str.isspace, word)))).map(" ".join)
any_text = st.text(st.characters(exclude_categories=["Cs"]))


def test_normalise_composes_and_strips() -> None:
    assert normalise("\ufeff  cafe\u0301 \u00a0 bar\r\n") == "café \u00a0 bar"


def test_normalise_lowercases_before_it_composes() -> None:
    assert normalise("E\u0301CLAIR", lowercase=True) == "éclair"
    assert normalise("A\u030aB") == "ÅB"


@given(any_text)
def test_normalised_text_is_nfc(text: str) -> None:
    assert unicodedata.is_normalized("NFC", normalise(text, lowercase=True))


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(DataError, match=r"U\+D83D"):
        normalise("a\ud83db")


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("नमस्ते", ["न", "म", "स्ते"]),
        (f"a{FAMILY}{FLAG}{FLAG}b", ["a", FAMILY, FLAG, FLAG, "b"]),
        ("e\u0301a", ["e\u0301", "a"]),
        ("한국", ["한", "국"]),
        ("a b", ["a", " ", "b"]),
        ("a\r\nb", ["a", "\r\n", "b"]),
        ("", []),
    ],
)
def test_graphemes_are_what_a_reader_perceives(text: str, symbols: list[str]) -> None:
    assert Graphemes().split(text) == symbols


@given(st.text(st.characters(max_codepoint=0x2FF)))
def test_short_cut_for_latin_agrees_with_the_library(text: str) -> None:
    assert Graphemes().split(text) == list(grapheme.graphemes(text))


@given(any_text)
def test_graphemes_lose_nothing(text: str) -> None:
    assert Graphemes().join(Graphemes().split(text)) == text


def test_tokens() -> None:
    assert Tokens().split(" k  æ t\t") == ["k", "æ", "t"]
    assert Tokens().join(["k", "æ", "t"]) == "k æ t"


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("Don't go.", ["Don", "￭'￭", "t", "go", "￭."]),
        ("a , b", ["a", ",", "b"]),
        ('"Hi" (so)', ['"￭', "Hi", '￭"', "(￭", "so", "￭)"]),
        ("wait...", ["wait", "￭.", "￭.", "￭."]),
        ("3.14", ["3", "￭.￭", "14"]),
        ("नमस्ते।", ["नमस्ते", "￭।"]),
        (f"ok{FAMILY}!", ["ok", f"￭{FAMILY}", "￭!"]),
        ("می‌خواهم", ["می‌خواهم"]),
    ],
)
def test_words_and_marks_are_apart(text: str, symbols: list[str]) -> None:
    assert Words().split(text) == symbols
    assert Words().join(symbols) == text


@given(clean_texts)
def test_words_and_tokens_come_back(text: str) -> None:
    for segmenter in (Words(), Tokens()):
        assert segmenter.join(segmenter.split(text)) == text


@given(any_text)
def test_no_symbol_of_words_is_empty_or_mixed(text: str) -> None:
    for symbol in Words().split(text):
        bare = symbol.strip(JOINER)
        assert bare
        assert not any(map(str.isspace, bare))


def test_words_join_survives_marks_a_model_misplaces() -> None:
    assert Words().join(["￭.", "a￭", "￭b", "c￭"]) == ". ab c"


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def subwords(request: pytest.FixtureRequest) -> Subwords:
    return Subwords.train(TEXTS, 60, request.param)


def test_subwords_are_shorter_than_letters_and_come_back(subwords: Subwords) -> None:
    for text in [*TEXTS, "unseen ж and 🇮🇳", "two  spaces", " outer "]:
        assert subwords.join(subwords.split(text)) == text
    assert len(subwords.split(TEXTS[0])) < len(TEXTS[0])


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="▁")))
def test_subwords_lose_nothing(text: str, subwords: Subwords) -> None:
    assert subwords.join(subwords.split(text)) == text


def test_subwords_restored_from_bytes_are_the_same(subwords: Subwords) -> None:
    assert Subwords(subwords.model).split(TEXTS[2]) == subwords.split(TEXTS[2])


def test_subword_training_repeats_itself_in_another_process() -> None:
    code = (
        "import hashlib; from regard.data.text import Subwords; "
        f"print(hashlib.sha256(Subwords.train({TEXTS!r}, 60).model).hexdigest())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout.strip() == hashlib.sha256(Subwords.train(TEXTS, 60).model).hexdigest()
    assert found.stderr == ""  # SentencePiece keeps silent


def test_little_text_gives_few_subwords() -> None:
    assert Subwords.train(["a"], 1000).join(Subwords.train(["a"], 1000).split("a a")) == "a a"


def test_special_names_in_text_do_not_disturb_training() -> None:
    text = "<unk> <s> </s> <pad>"
    model = Subwords.train([text] * 20, 40)
    assert model.join(model.split(text)) == text


def test_no_text_for_subwords() -> None:
    with pytest.raises(DataError, match="too little text"):
        Subwords.train(["", "  "], 100)


def test_fewer_subwords_than_letters() -> None:
    with pytest.raises(DataError, match=r"5 subwords are too few for 11 different characters"):
        Subwords.train(["abcdefghij"], 5)


@pytest.mark.parametrize("model", [b"garbage", b"\n\xff", b"\0" * 100])
def test_damaged_subword_model(model: bytes) -> None:
    with pytest.raises(DataError, match="damaged"):
        Subwords(model)


def test_cut_off_subword_model(subwords: Subwords) -> None:
    with pytest.raises(DataError, match="damaged"):
        Subwords(subwords.model[:-7])


def test_empty_subword_model() -> None:
    with pytest.raises(DataError, match="empty"):
        Subwords(b"")


@pytest.mark.parametrize("name", SEGMENTERS)
def test_every_segmenter_is_built_saved_and_restored_alike(name: str) -> None:
    built = build_segmenter(name, TEXTS, 60)
    restored = SEGMENTERS[name](built.model)
    assert restored.split(TEXTS[1]) == built.split(TEXTS[1])
    assert restored.join(restored.split(TEXTS[1])) == TEXTS[1]


def test_unknown_segmenter_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'letters' are unknown; expected one of graphemes, tokens, words"):
        build_segmenter("letters", TEXTS, 60)
