"""The laws of answers, for conversations read on two levels: batch mates, padding and search change nothing."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regard.analysis.audit.altered import altered, uniform
from regard.attention.hierarchical import HierarchicalAttention
from regard.data.readers import Example
from regard.data.vocabulary import BEGIN, END
from regard.model import EncoderDecoder
from regard.prediction import Prediction
from regard.recipe import Dialog, Model, Recipe, Search, Side
from regard.tasks import respond
from regard.tasks.request import Request
from tests.tiny import SIZES, padded

EXAMPLES = [  # turns and words of many lengths
    Example("c a b|||f|||a d", "u v w"),
    Example("f e d c b a f", "y"),
    Example("e|||b|||a f d|||c c", "w w x y u"),
    Example("b a d e|||f c", "x u"),
    Example("f|||f", "v y x w v u x"),
]
NUMBERS = list(range(len(EXAMPLES)))
TOKENS = Side(symbols="tokens")
RECIPE = Recipe(task="respond", source=TOKENS, target=TOKENS, dialog=Dialog(turns=3))
CODEC = respond.codec(EXAMPLES, RECIPE)
SHORT = {"longest_ratio": 0.4, "longest_extra": 1}
SEARCHES = {
    "greedy": Request(Search(beam=1, **SHORT)),
    "beam": Request(Search(beam=4, **SHORT), nbest=4),
    "coverage": Request(Search(beam=4, coverage_penalty=0.3, **SHORT), nbest=3),
    "sampling": Request(Search(**SHORT), sampling=True, nbest=2, seed=5),
}
KINDS: dict[str, dict[str, Any]] = {
    "current": {"query": "current", "score": "bilinear"},
    "previous": {"query": "previous", "score": "additive", "cell": "gru"},
    "sparse": {"query": "current", "input_feeding": True, "score": "projected", "normalise": "sparsemax"},
    "none": {"attention": "none", "bidirectional": False},
    "lstmn": {"cell": "lstmn"},
    "monotonic": {"attention": "monotonic"},
}

every_kind = pytest.mark.parametrize("kind", KINDS)
every_search = pytest.mark.parametrize("search", SEARCHES)


def model(kind: str) -> EncoderDecoder:
    torch.manual_seed(4)
    recipe = Recipe(source=TOKENS, target=TOKENS, model=Model(**{**SIZES, **KINDS[kind]}), dialog=RECIPE.dialog)
    made = respond.build(CODEC, recipe).double().eval()
    for weight in made.parameters():
        nn.init.normal_(weight)
    return made


def asked(made: EncoderDecoder, search: str, numbers: list[int]) -> list[Prediction]:
    return respond.answer([made], CODEC, [EXAMPLES[number] for number in numbers], SEARCHES[search], numbers)


def same(one: Prediction, other: Prediction) -> None:
    assert one.output_tokens == other.output_tokens
    assert one.score == pytest.approx(other.score, abs=1e-9)
    assert one.lines == other.lines
    assert one.line_weights == pytest.approx(other.line_weights, abs=1e-6)
    if one.attention is not None and other.attention is not None:
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-6, rtol=0)
        np.testing.assert_allclose(one.looks[0].weights, other.looks[0].weights, atol=1e-6, rtol=0)
    assert len(one.nbest) == len(other.nbest)
    for mine, theirs in zip(one.nbest, other.nbest, strict=True):
        same(mine, theirs)


@every_kind
@every_search
def test_answers_do_not_depend_on_batch_mates_or_order(kind: str, search: str) -> None:
    made = model(kind)
    together = asked(made, search, NUMBERS)
    backwards = asked(made, search, NUMBERS[::-1])[::-1]
    alone = [asked(made, search, [number])[0] for number in NUMBERS]
    for one, other in zip(together * 2, backwards + alone, strict=True):
        same(one, other)


@every_kind
@every_search
@torch.no_grad()
def test_reported_is_teacher_forced(kind: str, search: str) -> None:
    made = model(kind)
    found = [one for best in asked(made, search, NUMBERS) for one in (best.nbest or [best])]
    sources = padded(*(CODEC.source.vocabulary.encode(one.source_tokens) for one in found), width=20)
    targets = padded(*([BEGIN, *CODEC.target.vocabulary.encode(one.output_tokens)] for one in found))
    for one, logits, weights in zip(found, *made(sources, targets.data), strict=True):
        wanted = CODEC.target.vocabulary.encode(one.output_tokens) + [END] * one.finished
        log_prob = sum(logits.log_softmax(-1)[t, symbol].item() for t, symbol in enumerate(wanted))
        assert one.log_probability == pytest.approx(log_prob, abs=1e-9)
        assert (one.attention is not None) == made.attends
        if one.attention is not None:
            rows = weights[: len(one.output_tokens), : len(one.source_tokens)]
            np.testing.assert_allclose(one.attention, rows, atol=1e-6, rtol=0)
            np.testing.assert_allclose(one.looks[0].weights.sum(1), 1, atol=1e-6)


@every_kind
def test_the_loss_of_a_batch_is_the_sum_of_its_examples(kind: str) -> None:
    made, encodings = model(kind), respond.encode(CODEC, EXAMPLES)
    alone = [respond.loss(made, respond.batch(encodings, [number]), 0.1).total.item() for number in NUMBERS]
    for numbers in (NUMBERS, NUMBERS[::-1], [4, 2]):
        found = respond.loss(made, respond.batch(encodings, numbers), 0.1).total.item()
        assert found == pytest.approx(sum(alone[number] for number in numbers), abs=1e-9)


def test_given_answers_are_read_with_their_turns() -> None:
    targets = [example.target.split() for example in EXAMPLES]
    for example, target, read in zip(
        EXAMPLES, targets, respond.force([model("current")], CODEC, EXAMPLES, targets, 1.0), strict=True
    ):
        assert read.prediction.output_tokens == target
        assert len(read.prediction.lines) == min(example.source.count("|||") + 1, 3)
        assert len(read.prediction.looks[0].rows) == len(target)


def test_what_was_said_before_counts_and_what_is_not_read_does_not() -> None:
    made = model("current")
    three, other, older = (
        respond.answer([made], CODEC, [Example(source, "")], SEARCHES["greedy"], [0])[0]
        for source in ("a b|||c|||d", "a a|||c|||d", "f|||a b|||c|||d")
    )
    assert three.log_probability != pytest.approx(other.log_probability, abs=1e-6)
    assert older.log_probability == pytest.approx(three.log_probability, abs=1e-9)
    assert (three.left_out, older.left_out) == (0, 1)


@pytest.mark.parametrize("kind", ["current", "lstmn"])
def test_both_levels_are_attended_to_and_an_audit_can_change_their_weights(kind: str) -> None:
    made, numbers = model(kind), [CODEC.encode(one) for one in EXAMPLES]
    assert any(isinstance(part, HierarchicalAttention) for part in made.modules())
    source, tokens = padded(*(one.source for one in numbers)), padded(*(one.target[:-1] for one in numbers)).data
    with torch.no_grad():
        plain = made(source, tokens)
        with altered(made, lambda weights, mask: weights):
            torch.testing.assert_close(made(source, tokens).logits, plain.logits)
        with altered(made, uniform):
            even = made(source, tokens)
    words = source.mask & (source.data != CODEC.border)  # (B, S)
    wanted = (words / words.sum(1, keepdim=True))[:, None].expand_as(even.weights)
    torch.testing.assert_close(even.weights, wanted.to(even.weights.dtype))
    assert not torch.allclose(even.logits, plain.logits)
