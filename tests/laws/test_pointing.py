"""Nothing about an answer that is pointed at, or its loss, depends on batch mates, padding or order."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regard.data.batching import Padded
from regard.data.readers import Example
from regard.prediction import Prediction
from regard.recipe import Search
from regard.settings import build
from regard.tasks import fill, read
from regard.tasks.request import Request

EXAMPLES = [  # passages and questions of several lengths, not in order
    Example("the cat sat on the mat and ran", "sat on", "who _____ ?"),
    Example("Ann", "ann", "_____"),
    Example("a dog , a dog !", "dog", "what did the old _____ see on the mat ?"),
    Example("Bob ran , the dog sat", "dog sat", "_____ sat"),
    Example("on on on and the", "on", "cat _____ dog ran"),
    Example("mat cat", "nothing", "the _____"),  # not in its passage
]
NUMBERS = list(range(len(EXAMPLES)))
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "coattention": (read, {}),
    "one direction, two layers, gru": (
        read,
        {"model.bidirectional": False, "model.encoder_layers": 2, "model.cell": "gru"},
    ),
    "plain": (read, {"model.attention": "none"}),
    "looking back": (read, {"model.cell": "lstmn", "model.compare": 7}),
    "over": (fill, {}),
    "over, lstm": (fill, {"model.cell": "lstm", "model.encoder_layers": 2, "model.residual": True}),
}
every = pytest.mark.parametrize("case", CASES)


def made(case: str) -> tuple[Any, Any, Any]:
    """The task, a codec and a model in fp64 of which no number is zero by initialisation."""
    task, options = CASES[case]
    sizes = {"model.embed": 5, "model.hidden": 6, "model.dropout": 0.0, "source.symbols": "tokens"}
    sizes |= {"model.readout": 3, "point.pieces": 2, "point.longest_span": 3} if task is read else {}
    recipe = build({**sizes, "training.smoothing": 0.0, "source.least": 2, **options}, "here")
    codec = task.codec(EXAMPLES, recipe)
    torch.manual_seed(4)
    model = task.build(codec, recipe).double().eval()
    for weight in model.parameters():
        nn.init.normal_(weight)
    return task, codec, model


def same(one: Prediction, other: Prediction) -> None:
    assert (one.output, one.span, one.left_out, one.unknown) == (
        other.output,
        other.span,
        other.left_out,
        other.unknown,
    )
    assert one.score == pytest.approx(other.score, abs=1e-9)
    assert (one.attention is None) == (other.attention is None)
    if one.attention is not None and other.attention is not None:
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-6)
    for mine, theirs in zip(one.looks, other.looks, strict=True):
        assert (mine.rows, mine.columns) == (theirs.rows, theirs.columns)
        np.testing.assert_allclose(mine.weights, theirs.weights, atol=1e-6)
    assert [two.output for two in one.nbest] == [two.output for two in other.nbest]


@every
def test_answers(case: str) -> None:
    task, codec, model = made(case)
    request = Request(Search(beam=5), nbest=3)
    together = task.answer([model], codec, EXAMPLES, request, NUMBERS)
    backwards = task.answer([model], codec, EXAMPLES[::-1], request, NUMBERS)[::-1]
    alone = [task.answer([model], codec, [one], request, [0])[0] for one in EXAMPLES]
    for one, other in zip(together * 2, backwards + alone, strict=True):
        same(one, other)
    assert len({one.output for one in together}) > 3


@every
def test_an_answer_is_cut_out_of_its_source_and_never_empty(case: str) -> None:
    task, codec, model = made(case)
    for example, found in zip(EXAMPLES, task.answer([model], codec, EXAMPLES, Request(Search()), NUMBERS), strict=True):
        assert found.output == example.source[found.span.begin : found.span.end]
        assert found.output.split() == found.output_tokens != []
        assert found.score == found.log_probability <= 0


@every
def test_the_loss_of_a_batch_is_the_sum_of_its_examples(case: str) -> None:
    task, codec, model = made(case)
    encodings = task.encode(codec, EXAMPLES)
    alone = [task.loss(model, task.batch(encodings, [number])) for number in NUMBERS]
    for numbers in (NUMBERS, NUMBERS[::-1], [0, 1], [5, 2, 4]):
        found = task.loss(model, task.batch(encodings, numbers))
        for name in ("total", "nll", "symbols"):
            expected = sum(getattr(alone[number], name).item() for number in numbers)
            assert getattr(found, name).item() == pytest.approx(expected, abs=1e-9)
        assert found.symbols.item() == sum(encodings[number].counted for number in numbers)
    assert alone[5].total.item() == alone[5].symbols.item() == 0  # its answer does not stand there
    one_word = [0, 1, 1, 0, 1, 0]  # has an answer of one word that stands in the passage
    assert [one.counted for one in encodings] == (one_word if task is fill else [1, 1, 1, 1, 1, 0])


@every
@torch.no_grad()
def test_what_is_beyond_either_end_changes_nothing(case: str) -> None:
    """Longer padding, and other symbols in it, of passages and of questions."""
    task, codec, model = made(case)
    batch = task.batch(task.encode(codec, EXAMPLES), NUMBERS)
    plain = task.loss(model, batch)

    def garbage(one: Padded) -> Padded:
        longer = nn.functional.pad(one.data, (0, 3))
        return Padded(torch.where(Padded(longer, one.lengths).mask, longer, 5), one.lengths)

    for other in (batch._replace(passage=garbage(batch.passage)), batch._replace(question=garbage(batch.question))):
        found = task.loss(model, other)
        assert found.total.item() == pytest.approx(plain.total.item(), abs=1e-9)
        assert found.nll.item() == pytest.approx(plain.nll.item(), abs=1e-9)
