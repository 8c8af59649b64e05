"""Conversations ↔ numbers, and what an answer shows of turns."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from regard.data.readers import Example
from regard.data.turns import TURN
from regard.data.vocabulary import UNKNOWN
from regard.errors import DataError
from regard.prediction import Prediction
from regard.recipe import Side
from regard.tasks.turns import TurnCodec

EXAMPLES = [
    Example("good day ||| hello, how are you? ||| fine", "me too"),
    Example("is it cold?", "no, it is not"),
    Example("what day is it? ||| it is a good day", "so it is"),
]
KINDS = ("graphemes", "tokens", "words", "subwords")


def learn(symbols: Any = "words", turns: int = 0, least: int = 1) -> TurnCodec:
    side = Side(symbols=symbols, subwords=40, least=least)
    return TurnCodec.learn_turns(EXAMPLES, side, Side(symbols="words"), True, turns)


@pytest.mark.parametrize("symbols", KINDS)
def test_the_border_is_a_symbol_of_its_own_however_turns_are_cut(symbols: str) -> None:
    codec = learn(symbols)
    read = codec.source_symbols(EXAMPLES[0])
    borders = [place for place, symbol in enumerate(read) if symbol == TURN]
    assert len(borders) == 2
    cuts = [read[: borders[0]], read[borders[0] + 1 : borders[1]], read[borders[1] + 1 :]]
    assert [codec.source.segmenter.join(one) for one in cuts] == ["good day", "hello, how are you?", "fine"]
    numbers = codec.encode(EXAMPLES[0]).source
    assert [place for place, number in enumerate(numbers) if number == codec.border] == borders


def test_a_turn_is_cut_as_if_it_stood_alone() -> None:
    codec = learn("subwords")
    alone = codec.source_symbols(Example("it is a good day", ""))
    assert codec.source_symbols(EXAMPLES[2])[-len(alone) :] == alone


def test_the_border_is_known_though_rare_or_never_seen() -> None:
    codec = TurnCodec.learn_turns([EXAMPLES[1]] * 3, Side(symbols="words", least=3), Side(), False, 0)
    assert codec.border != UNKNOWN
    assert codec.source.vocabulary.unknown(codec.source_symbols(Example("is ||| it", ""))) == []


@pytest.mark.parametrize(("turns", "read", "left"), [(0, 9, 0), (3, 9, 0), (2, 6, 2), (1, 1, 6)])
def test_only_the_last_turns_are_read_and_the_others_counted(turns: int, read: int, left: int) -> None:
    codec = learn("tokens", turns)
    example = Example("good day ||| hello, how are you ||| fine", "")
    assert len(codec.source_symbols(example)) == read  # words, and a border or two
    assert codec.left_out(example) == left


def test_symbols_are_learnt_from_what_is_read() -> None:
    assert "hello" not in learn("words", 1).source.vocabulary
    assert "hello" in learn("words", 2).source.vocabulary
    assert learn("words", 1).target.to_json() == learn("words", 2).target.to_json()


def test_only_empty_turns_are_refused() -> None:
    with pytest.raises(DataError, match=r"chat.tsv, line 3 has only empty turns"):
        learn().source_symbols(Example(" ||| ", "x", place="chat.tsv, line 3"))


@pytest.mark.parametrize("symbols", KINDS)
def test_a_codec_survives_being_saved(symbols: str) -> None:
    codec = learn(symbols, 2)
    again = TurnCodec.from_json(json.loads(json.dumps(codec.to_json())))
    assert again.to_json() == codec.to_json()
    assert [again.encode(one) for one in EXAMPLES] == [codec.encode(one) for one in EXAMPLES]
    assert again.turns == 2


@pytest.mark.parametrize("turns", [None, -1, "2", True, 1.5])
def test_a_wrong_number_of_turns_is_a_data_error(turns: Any) -> None:
    with pytest.raises(DataError, match="turns"):
        TurnCodec.from_json({**learn().to_json(), "turns": turns})


def test_a_vocabulary_without_the_border_is_a_data_error() -> None:
    saved = learn().to_json()
    saved["source"]["vocabulary"].remove(TURN)
    with pytest.raises(DataError, match="no \\|\\|\\|"):
        TurnCodec.from_json(saved)


def prediction(codec: TurnCodec, example: Example, attention: Any) -> Prediction:
    return Prediction(example.source, "a b", -1.0, -2.0, codec.source_symbols(example), ["a", "b"], attention)


def test_an_answer_shows_how_much_it_looked_at_each_turn() -> None:
    codec, example = learn("tokens", 2), Example("zz ||| a b ||| c", "")
    weights = np.array([[0.25, 0.5, 0, 0.25], [0, 0, 0, 1]], np.float32)
    shown = codec.shown(example, prediction(codec, example, weights))
    assert shown.lines == [3, 1]
    assert shown.left_out == 1
    (look,) = shown.looks
    assert (look.name, look.rows, look.columns) == ("turns", ["a", "b"], ["a b", "c"])
    np.testing.assert_array_equal(look.weights, [[0.75, 0.25], [0, 1]])
    assert shown.line_weights == [0.375, 0.625]
    assert shown.to_dict()["looks"][0]["columns"] == ["a b", "c"]


def test_an_answer_without_attention_or_without_words_has_turns_too() -> None:
    codec, example = learn("tokens", 0), Example("a b ||| c", "")
    bare = codec.shown(example, prediction(codec, example, None))
    assert (bare.lines, bare.line_weights, bare.looks) == ([3, 1], (), ())
    empty = replace(prediction(codec, example, np.zeros((0, 4), np.float32)), output_tokens=[])
    assert codec.shown(example, empty).line_weights == [0, 0]
