"""Text ↔ numbers, saved with a run."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.readers import Example
from regard.data.vocabulary import BEGIN, END, UNKNOWN
from regard.errors import DataError
from regard.recipe import Side
from regard.tasks.codec import Codec, Half, feature_symbols

EXAMPLES = [Example("laufen", "läuft", "V;3;SG"), Example("Vase", "Vasen", "N;PL"), Example("ruf", "rufe ab", "V;1")]


def learn(symbols: Any = "graphemes", features: bool = True, lowercase: bool = False) -> Codec:
    side = Side(symbols=symbols, subwords=20)
    return Codec.learn(EXAMPLES, side, side, features, lowercase)


LEARNT = learn()


def test_features_are_read_after_the_source_and_are_no_letters() -> None:
    codec = learn()
    assert codec.source_symbols(EXAMPLES[1]) == ["V", "a", "s", "e", "+N", "+PL"]
    letters, tags = codec.source.vocabulary.encode(["V"]), codec.source.vocabulary.encode(["+V"])
    assert letters != tags
    assert UNKNOWN not in letters + tags
    assert learn(features=False).source_symbols(EXAMPLES[1]) == ["V", "a", "s", "e"]


@pytest.mark.parametrize("text", ["V;3;SG", "V,3,SG", "V 3 SG", " V; 3 ;SG;"])
def test_features_may_be_separated_in_several_ways(text: str) -> None:
    assert feature_symbols(text) == ["+V", "+3", "+SG"]


def test_targets_are_framed_and_features_are_not_part_of_them() -> None:
    encoding = learn().encode(EXAMPLES[0])
    assert (encoding.target[0], encoding.target[-1]) == (BEGIN, END)
    assert len(encoding.target) == 2 + len("läuft")
    assert len(encoding.source) == len("laufen") + 3
    assert "+V" not in learn().target.vocabulary


def test_text_is_normalised_before_it_is_cut() -> None:
    codec = learn(lowercase=True)
    assert codec.source_symbols(Example("  VASE", "")) == ["v", "a", "s", "e"]
    assert codec.target_symbols("la\u0308uft") == ["l", "ä", "u", "f", "t"]


def test_unseen_symbols_become_unknown() -> None:
    encoding = learn().encode(Example("xyz", "läuft", "V"))
    assert encoding.source[:3] == [UNKNOWN] * 3
    assert encoding.source[3] != UNKNOWN


def test_rare_symbols_are_unknown() -> None:
    half = Half.learn(["aab", "ac"], [], Side(least=2))
    assert half.vocabulary.unknown(["a", "b", "c"]) == ["b", "c"]


@pytest.mark.parametrize("symbols", ["graphemes", "tokens", "words", "subwords"])
def test_a_codec_survives_being_saved(symbols: str) -> None:
    codec = learn(symbols)
    again = Codec.from_json(json.loads(json.dumps(codec.to_json())))
    assert again.to_json() == codec.to_json()
    for example in [*EXAMPLES, Example("neu", "wörter ab", "V;XX")]:
        assert again.encode(example) == codec.encode(example)
    assert (again.features, again.lowercase) == (True, False)


@pytest.mark.parametrize("symbols", ["graphemes", "words", "subwords"])
def test_learning_twice_gives_the_same_codec(symbols: str) -> None:
    assert learn(symbols).to_json() == learn(symbols).to_json()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@given(json_values)
def test_anything_else_is_a_data_error(content: object) -> None:
    with pytest.raises(DataError):
        Codec.from_json(content)
    with pytest.raises(DataError):
        Half.from_json(content)


@given(json_values, st.sampled_from(["source", "target"]), st.sampled_from(["symbols", "vocabulary"]))
def test_a_codec_with_one_wrong_part_is_a_data_error(content: object, side: str, part: str) -> None:
    saved = LEARNT.to_json()
    saved[side][part] = content
    with pytest.raises(DataError):
        Codec.from_json(saved)


def test_links_of_words_become_links_of_symbols() -> None:
    """Features are words too: here the third source word is the first feature."""
    side = Side(symbols="words")
    example = Example("go, now", "geh jetzt", "V;2", where="0-0 1-1 2-0")
    codec = Codec.learn([example], side, side, True, False)
    assert codec.source_symbols(example) == ["go", "￭,", "now", "+V", "+2"]
    assert codec.encode(example).links == ((0, 0), (0, 1), (0, 3), (1, 2))
    assert codec.encode(Example("go, now", "geh jetzt", "V;2")).links == ()


def test_links_of_spelt_words_are_of_their_letters() -> None:
    example = Example("ruf", "rufe ab", "V;1", where="0-0 3-3")
    assert learn().encode(example).links == ((0, 0), (3, 3))


@pytest.mark.parametrize(("where", "said"), [("0-7", "target word 8, but that side has 7"), ("0:1", "is no link")])
def test_links_that_lead_nowhere_name_their_pair(where: str, said: str) -> None:
    with pytest.raises(DataError, match=rf"the links of pairs.tsv, line 3: .*{said}"):
        learn().encode(Example("ruf", "rufe ab", place="pairs.tsv, line 3", where=where))


def test_turned_the_sides_change_places() -> None:
    codec = learn(features=False)
    assert (codec.turned().source, codec.turned().target) == (codec.target, codec.source)
    assert codec.turned().source_symbols(Example("Vasen", "")) == list("Vasen")
