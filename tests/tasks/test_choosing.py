"""Texts ↔ numbers and classes, and the laws of the tasks that choose: padding, mates and order change nothing."""

import json
import logging
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from regard.data.readers import Example
from regard.data.vocabulary import UNKNOWN
from regard.decoders.choice import Chooser, Chosen, Seen
from regard.errors import DataError
from regard.prediction import Prediction
from regard.recipe import Choose, Data, Model, Recipe, Search, Side
from regard.tasks.choices import Codec
from regard.tasks.choosing import answer, batch, codec, encode, loss
from regard.tasks.classify import build
from regard.tasks.request import Request
from tests.tasks.test_codec import json_values

EXAMPLES = [
    Example("A fine film. Really fine! And long", "pos", place="line 1"),
    Example("Bad.", "neg", place="line 2"),
    Example("It was so-so. I slept<br />Then it was over. Bad", "neg", place="line 3"),
    Example("Long", "mixed", place="line 4"),
    Example("A bad film. A fine film", "mixed", place="line 5"),
]
REQUEST = Request(Search())
PAIRS = [Example(one.source, one.target, two.source, one.place) for one, two in pairwise(EXAMPLES)]


def recipe(**choose: Any) -> Recipe:
    data = Data(lowercase=True, longest=9)
    sizes = Model(embed=5, hidden=6, dropout=0.0)
    return Recipe(task="classify", data=data, source=Side(symbols="words"), model=sizes, choose=Choose(**choose))


HAN, FLAT = recipe(levels=2, size=7), recipe(pool="structured", rows=3, size=7, penalty=0.3, hidden=4)
BOTH = {"levels": HAN, "flat": FLAT, "last": recipe(levels=2, pool="last")}
every = pytest.mark.parametrize("name", BOTH)


def made(options: Recipe, seed: int = 0) -> Chooser:
    torch.manual_seed(seed)
    model = build(codec(EXAMPLES, options), options).double().eval()
    for weight in model.parameters():
        nn.init.normal_(weight)
    return model


def asked(options: Recipe, examples: list[Example], *seeds: int, nbest: int = 0) -> list[Prediction]:
    models = [made(options, seed) for seed in seeds or (0,)]
    request = Request(Search(), nbest=nbest)
    return answer(models, codec(EXAMPLES, options), examples, request, list(range(len(examples))))


# -- codec -----------------------------------------------------------------------------------------------------


def test_sentences_are_found_by_capitals_and_parted_by_a_symbol_of_their_own() -> None:
    found = codec(EXAMPLES, HAN)
    assert found.symbols(EXAMPLES[2]).source == ["it", "was", "so", "￭-￭", "so", "￭.", "\n", "i", "slept"]
    assert found.source.vocabulary.encode(["\n"]) == [found.separator] != [UNKNOWN]
    assert codec(EXAMPLES, FLAT).symbols(EXAMPLES[2]).source[5:] == ["￭.", "i", "slept", "then"]


def test_the_separator_has_a_number_even_if_no_text_has_two_sentences() -> None:
    single = [Example("one", "a"), Example("two", "b")]
    for least in (1, 3):
        side = Side(symbols="words", least=least)
        texts = single * 3
        kept = {"features": False, "lowers": False, "longest": 5, "sentences": True}
        found = Codec.learn(texts, side, ("a", "b"), **kept)
        assert found.separator != UNKNOWN
        assert found.separator not in found.source.vocabulary.encode(["one", "two"])


def test_labels_stand_in_alphabetic_order() -> None:
    assert codec(EXAMPLES, HAN).labels == ("mixed", "neg", "pos")
    assert codec(EXAMPLES[::-1], HAN).labels == ("mixed", "neg", "pos")
    assert [one.label for one in encode(codec(EXAMPLES, HAN), EXAMPLES)] == [2, 1, 1, 0, 0]


def test_what_is_longer_than_it_reads_is_counted_and_said(caplog: pytest.LogCaptureFixture) -> None:
    found = codec(EXAMPLES, HAN)
    whole = [
        "it",
        "was",
        "so",
        "￭-￭",
        "so",
        "￭.",
        "\n",
        "i",
        "slept",
        "\n",
        "then",
        "it",
        "was",
        "over",
        "￭.",
        "\n",
        "bad",
    ]
    assert found.symbols(EXAMPLES[2]) == (whole[:9], [], 6)
    assert found.symbols(EXAMPLES[1]).left_out == 0
    with caplog.at_level(logging.WARNING, "regard"):
        encoded = encode(found, EXAMPLES)
    assert max(one.length for one in encoded) <= 9
    assert "2 of 5 texts (40.0 %) are read up to data.longest=9 symbols" in caplog.text
    assert [one.left_out for one in asked(HAN, EXAMPLES)] == [2, 0, 6, 0, 0]


def test_a_text_is_not_cut_after_a_separator() -> None:
    found = codec(EXAMPLES, HAN)
    text = Example("a b c d e f g h. I", "pos")
    assert found.symbols(text) == (["a", "b", "c", "d", "e", "f", "g", "h", "￭."], [], 1)
    assert found.symbols(Example("a b c d e f g\nh i", "pos")) == (
        ["a", "b", "c", "d", "e", "f", "g", "\n", "h"],
        [],
        1,
    )
    assert found.symbols(Example("a b c d e f g h\ni", "pos")) == (["a", "b", "c", "d", "e", "f", "g", "h"], [], 1)


def test_a_label_never_seen_in_training_is_said_and_counts_for_nothing(caplog: pytest.LogCaptureFixture) -> None:
    foreign = Example("Fine", "great", place="dev, line 7")
    with caplog.at_level(logging.WARNING, "regard"):
        encoded = encode(codec(EXAMPLES, HAN), [*EXAMPLES, foreign])
    assert "1 examples have a label never seen in training and count as wrong: 'great' (dev, line 7)" in caplog.text
    assert [one.counted for one in encoded] == [1] * 5 + [0]
    model = made(HAN)
    some, all_known = loss(model, batch(encoded, [0, 5])), loss(model, batch(encoded, [0]))
    assert some.symbols == 1
    assert some.nll.item() == pytest.approx(all_known.nll.item())


def pairs_codec() -> Codec:
    kept = {"features": True, "lowers": True, "longest": 9, "sentences": False}
    return Codec.learn(PAIRS, Side(symbols="words"), ("mixed", "neg", "pos"), **kept)


def test_a_pair_has_two_texts_of_one_vocabulary() -> None:
    found = pairs_codec()
    read = found.symbols(PAIRS[1])
    assert read.source == ["bad", "￭."]
    assert read.beside == ["it", "was", "so", "￭-￭"]  # half of the 9 symbols each
    assert read.left_out == 10
    assert found.source_symbols(PAIRS[1]) == read.source + read.beside
    encoded = encode(found, PAIRS)
    batched = batch(encoded, [0, 1])
    assert batched.beside is not None
    assert batched.beside.data.shape == (2, 4)
    assert encoded[1].order == (2, 4)
    assert UNKNOWN not in encoded[1].source + encoded[1].beside


def test_a_pair_without_its_second_text_is_named() -> None:
    with pytest.raises(DataError, match=r"line 1 comes without its second text: .* --beside"):
        pairs_codec().symbols(EXAMPLES[0])


@pytest.mark.parametrize("name", ["levels", "flat", "pairs"])
def test_a_codec_survives_being_saved(name: str) -> None:
    found = pairs_codec() if name == "pairs" else codec(EXAMPLES, BOTH[name])
    again = Codec.from_json(json.loads(json.dumps(found.to_json())))
    assert again.to_json() == found.to_json()
    assert encode(again, PAIRS) == encode(found, PAIRS)
    assert again.lowercase is False  # sources come with their capitals


@given(json_values)
def test_anything_else_is_a_data_error(content: object) -> None:
    with pytest.raises(DataError):
        Codec.from_json(content)


SAVED = codec(EXAMPLES, HAN).to_json()


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("labels", ["pos"]),
        ("labels", ["pos", "neg"]),
        ("labels", ["neg", "neg"]),
        ("labels", ["neg", 1]),
        ("labels", "neg, pos"),
        ("longest", 0),
        ("longest", True),
        ("longest", "9"),
        ("features", 1),
        ("sentences", None),
        ("lowers", "yes"),
        ("source", {**SAVED["source"], "vocabulary": [*SAVED["source"]["vocabulary"][:4], "a"]}),
    ],
)
def test_a_codec_with_one_wrong_part_is_a_data_error(part: str, content: object) -> None:
    with pytest.raises(DataError):
        Codec.from_json({**SAVED, part: content})
    assert Codec.from_json(SAVED)


@given(json_values, st.sampled_from(sorted(SAVED)))
def test_hostile_parts_are_data_errors_or_fit(content: object, part: str) -> None:
    try:
        Codec.from_json({**SAVED, part: content})
    except DataError:
        return
    assert part in ("features", "lowers", "sentences", "longest")


# -- laws ------------------------------------------------------------------------------------------------------


@every
def test_answers_do_not_depend_on_batch_mates_or_order(name: str) -> None:
    together = asked(BOTH[name], EXAMPLES, nbest=3)
    backwards = asked(BOTH[name], EXAMPLES[::-1], nbest=3)[::-1]
    alone = [asked(BOTH[name], [one], nbest=3)[0] for one in EXAMPLES]
    for one, other in zip(together * 2, backwards + alone, strict=True):
        same(one, other)


def same(one: Prediction, other: Prediction) -> None:
    assert one.output == other.output
    assert one.score == pytest.approx(other.score, abs=1e-9)
    assert dict(one.probabilities or {}) == pytest.approx(dict(other.probabilities or {}))
    assert one.lines == other.lines
    assert list(one.line_weights) == pytest.approx(list(other.line_weights))
    assert (one.attention is None) == (other.attention is None)
    if one.attention is not None and other.attention is not None:
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-6)


def test_the_answers_say_something() -> None:
    """Else the law would hold for an empty reason."""
    found = [one.output for seed in range(5) for one in asked(HAN, EXAMPLES, seed)]
    assert set(found) == {"mixed", "neg", "pos"}


@every
def test_the_loss_of_a_batch_is_the_sum_of_its_examples(name: str) -> None:
    model, encoded = made(BOTH[name]), encode(codec(EXAMPLES, BOTH[name]), EXAMPLES)
    alone = [loss(model, batch(encoded, [number]), 0.1) for number in range(5)]
    for numbers in ([0, 1, 2, 3, 4], [4, 2], [3, 1, 0]):
        found = loss(model, batch(encoded, numbers), 0.1)
        for part in ("total", "nll", "symbols"):
            expected = sum(getattr(alone[number], part).item() for number in numbers)
            assert getattr(found, part).item() == pytest.approx(expected, abs=1e-9)


@every
def test_the_loss_is_what_the_answer_says(name: str) -> None:
    encoded = encode(codec(EXAMPLES, BOTH[name]), EXAMPLES)
    told = loss(made(BOTH[name]), batch(encoded, [0, 1, 2, 3, 4])).nll.item()
    answers = asked(BOTH[name], EXAMPLES)
    said = [(one.probabilities or {})[example.target] for one, example in zip(answers, EXAMPLES, strict=True)]
    assert told == pytest.approx(-np.log(said).sum())


# -- what is shown ---------------------------------------------------------------------------------------------


def test_the_likeliest_class_is_answered_and_the_others_in_their_order() -> None:
    for one in asked(HAN, EXAMPLES, nbest=2):
        shares = list((one.probabilities or {}).values())
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(1)
        assert one.output == next(iter(one.probabilities or {}))
        assert one.output_tokens == [one.output]
        assert one.score == one.log_probability == pytest.approx(np.log(shares[0]))
        assert [other.output for other in one.nbest] == list(one.probabilities or {})[:2]
        assert [list(other.attention_rows) for other in one.nbest] == [[other.output] for other in one.nbest]


def test_sentences_and_words_are_shown_without_separators() -> None:
    one = asked(HAN, EXAMPLES)[2]
    assert one.source_tokens == ["it", "was", "so", "￭-￭", "so", "￭.", "i", "slept"]
    assert list(one.lines) == [6, 2]
    assert sum(one.line_weights) == pytest.approx(1)
    assert one.attention is not None
    parts = [one.attention[0, :6].sum(), one.attention[0, 6:].sum()]
    assert parts == pytest.approx(list(one.line_weights), abs=1e-6)
    assert one.panel().lines == (6, 2)


def test_rows_of_a_structured_pool_are_numbered() -> None:
    one = asked(FLAT, EXAMPLES)[4]
    assert one.attention is not None
    assert one.attention.shape == (3, 7)
    assert list(one.attention_rows) == ["1", "2", "3"]
    assert one.attention.sum(1) == pytest.approx(1)
    assert list(one.lines) == [7]


def test_models_vote_and_their_weights_are_averaged() -> None:
    singles = [asked(HAN, EXAMPLES, seed) for seed in (0, 1)]
    for both, first, second in zip(asked(HAN, EXAMPLES, 0, 1), *singles, strict=True):
        for label, share in (both.probabilities or {}).items():
            assert share == pytest.approx(
                ((first.probabilities or {})[label] + (second.probabilities or {})[label]) / 2
            )
        np.testing.assert_allclose(both.attention, (first.attention + second.attention) / 2, atol=1e-6)
        mean = [(one + other) / 2 for one, other in zip(first.line_weights, second.line_weights, strict=True)]
        assert list(both.line_weights) == pytest.approx(mean)


def test_models_that_look_at_different_things_vote_and_show_the_first() -> None:
    models = [made(HAN), made(BOTH["last"])]
    found = answer(models, codec(EXAMPLES, HAN), EXAMPLES, REQUEST, [0, 1, 2, 3, 4])
    for both, one in zip(found, asked(HAN, EXAMPLES), strict=True):
        np.testing.assert_allclose(both.attention, one.attention, atol=1e-6)


class Pairing(nn.Module):
    """A reader of pairs that says where it looked in both texts."""

    attends = True

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(3))

    def forward(self, source: Any, beside: Any) -> Chosen:
        mask = source.mask[:, None] & beside.mask[:, :, None]  # (B, T, S)
        matrix = mask.double() * torch.arange(1, 1 + mask[0].numel()).view(mask[0].shape)
        each, own = Seen("words", matrix, "beside"), Seen("second", beside.mask[:, None].double(), columns="beside")
        return Chosen(self.bias.expand(len(mask), 3), (each, own))


def test_weights_between_two_texts_are_named_by_their_words() -> None:
    one = answer([Chooser(Pairing())], pairs_codec(), PAIRS, REQUEST, list(range(4)))[1]
    assert one.source_tokens == ["bad", "￭."]
    assert list(one.attention_rows) == ["it", "was", "so", "￭-￭"]
    assert one.attention is not None
    assert one.attention.shape == (4, 2)
    (look,) = one.looks
    assert (look.name, look.rows, look.columns) == ("second", ["mixed"], ["it", "was", "so", "￭-￭"])
    assert look.weights.tolist() == [[1, 1, 1, 1]]


def test_a_second_text_of_nothing_but_a_mark_is_told() -> None:
    learnt = Codec.learn(
        PAIRS, Side(symbols="words"), ("neg", "pos"), features=True, lowers=False, longest=9, sentences=False
    )
    for empty in ("", " ", "\ufeff"):
        with pytest.raises(DataError, match="comes without its second text"):
            learnt.symbols(Example("Bad.", "neg", empty))
