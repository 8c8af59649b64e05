"""Nothing about an answer depends on batch mates, batch size, padding or order."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from regard.cells import CELLS
from regard.data.batching import Padded
from regard.model import EncoderDecoder
from regard.prediction import Prediction
from regard.recipe import Search
from regard.tasks.sequence import Request, answer, batch, encode, loss
from tests.tiny import ATTENTIONS, CODEC, EXAMPLES, model

SHORT = {"longest_ratio": 0.5, "longest_extra": 1}  # so that some are cut off, at a length that is their own
SEARCHES = {
    "greedy": Request(Search(beam=1, **SHORT)),
    "beam": Request(Search(beam=4, **SHORT), nbest=4),
    "sampling": Request(Search(**SHORT), sampling=True, nbest=2, seed=5),
}
OTHER_SEARCHES = {
    "coverage": Request(Search(beam=4, coverage_penalty=0.3, **SHORT), nbest=3),
    "limits": Request(Search(beam=3, shortest=2, no_repeat=1, length_penalty=0.0, **SHORT), prefix="wu"),
    "narrow": Request(Search(**SHORT), sampling=True, temperature=1.7, top_k=4, top_p=0.8),
}
SCORES = ("dot", "scaled", "projected", "bilinear", "additive", "mlp")
ENCODERS = list(itertools.product(CELLS, (False, True), (1, 2)))  # cell, both directions, layers
OTHERS = [name for name in ATTENTIONS if name not in SCORES]
NUMBERS = list(range(len(EXAMPLES)))

every_search = pytest.mark.parametrize("search", [*SEARCHES, *OTHER_SEARCHES])


def asked(models: Sequence[EncoderDecoder], request: Request, numbers: list[int]) -> list[Prediction]:
    return answer(models, CODEC, [EXAMPLES[number] for number in numbers], request, numbers)


def check(models: Sequence[EncoderDecoder], request: Request, tolerance: float = 1e-9) -> None:
    together = asked(models, request, NUMBERS)
    backwards = asked(models, request, NUMBERS[::-1])[::-1]
    alone = [asked(models, request, [number])[0] for number in NUMBERS]
    for one, other in zip(together * 2, backwards + alone, strict=True):
        same(one, other, tolerance)


def same(one: Prediction, other: Prediction, tolerance: float) -> None:
    assert one.source == other.source
    assert one.output_tokens == other.output_tokens
    assert one.finished == other.finished
    assert one.score == pytest.approx(other.score, abs=tolerance)
    assert one.log_probability == pytest.approx(other.log_probability, abs=tolerance)
    assert (one.attention is None) == (other.attention is None)
    if one.attention is not None and other.attention is not None:
        assert one.attention.shape == (len(one.output_tokens), len(one.source_tokens))
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-5, rtol=0)
    assert len(one.nbest) == len(other.nbest)
    for mine, theirs in zip(one.nbest, other.nbest, strict=True):
        same(mine, theirs, tolerance)


def arranged(number: int) -> dict[str, Any]:
    """The other options, in turn."""
    return {
        "query": ("previous", "current")[number % 2],
        "input_feeding": number % 3 == 0,
        "decoder_layers": 1 + (number % 5 == 0),
        "residual": number % 4 == 0,
        "output": ("plain", "attentional", "deep", "maxout")[number % 4],
        "start": ("last", "mean", "same", "zero", "learned")[number % 5],
    }


@pytest.mark.parametrize(("cell", "bidirectional", "layers"), ENCODERS)
@pytest.mark.parametrize("score", SCORES)
def test_every_encoder_score_and_search(cell: str, bidirectional: bool, layers: int, score: str) -> None:
    number = ENCODERS.index((cell, bidirectional, layers)) + 7 * SCORES.index(score)
    options = {"cell": cell, "bidirectional": bidirectional, "encoder_layers": layers, "score": score}
    made = model(number, **arranged(number), **options)
    for request in SEARCHES.values():
        check([made], request)


@pytest.mark.parametrize("attention", OTHERS)
@every_search
def test_every_other_attention_and_search(attention: str, search: str) -> None:
    number = OTHERS.index(attention) + list({**SEARCHES, **OTHER_SEARCHES}).index(search)
    cell, bidirectional, layers = ENCODERS[number]
    options = {"cell": cell, "bidirectional": bidirectional, "encoder_layers": layers}
    made = model(number, **{**arranged(number), **options, **ATTENTIONS[attention]})
    check([made], {**SEARCHES, **OTHER_SEARCHES}[search])


@every_search
def test_models_that_answer_together(search: str) -> None:
    check([model(1), model(2, score="dot", cell="gru")], {**SEARCHES, **OTHER_SEARCHES}[search])


@pytest.mark.parametrize("attention", ["additive", "scaled", "everything", "monotonic", "fixed"])
def test_in_single_precision(attention: str) -> None:
    made = model(3, **ATTENTIONS[attention], encoder_layers=2).float()
    for request in SEARCHES.values():
        check([made], request, tolerance=1e-5)


def test_the_answers_say_something() -> None:
    """Else the law would hold for an empty reason: they differ by source, some end and some are cut off."""
    for request in SEARCHES.values():
        answers = [one for seed in range(8) for one in asked([model(seed)], request, NUMBERS)]
        assert len({one.output for one in answers}) > 20
        assert {one.finished for one in answers} == {True, False}
        assert {len(one.output_tokens) for one in answers} == {0, 1, 2, 3, 4}


# -- losses ----------------------------------------------------------------------------------------------------

ENCODINGS = encode(CODEC, EXAMPLES)
every_attention = pytest.mark.parametrize(("attention", "cell"), list(zip(ATTENTIONS, itertools.cycle(CELLS))))


@every_attention
def test_the_loss_of_a_batch_is_the_sum_of_its_examples(attention: str, cell: str) -> None:
    made = model(5, **ATTENTIONS[attention], cell=cell, encoder_layers=2, input_feeding=True)
    alone = [loss(made, batch(ENCODINGS, [number]), 0.1) for number in NUMBERS]
    for numbers in (NUMBERS, NUMBERS[::-1], [0, 1], [1, 6, 2]):
        found = loss(made, batch(ENCODINGS, numbers), 0.1)
        for name in ("total", "nll", "symbols"):
            expected = sum(getattr(alone[number], name).item() for number in numbers)
            assert getattr(found, name).item() == pytest.approx(expected, abs=1e-9)


@every_attention
@torch.no_grad()
def test_what_is_beyond_the_end_changes_nothing(attention: str, cell: str) -> None:
    """Longer padding, and other symbols in it."""
    made = model(6, **ATTENTIONS[attention], cell=cell, encoder_layers=2)
    source, target, *_ = batch(ENCODINGS, NUMBERS)
    longer = torch.nn.functional.pad(source.data, (0, 3))
    garbage = torch.where(Padded(longer, source.lengths).mask, longer, torch.randint_like(longer, 1, 10))
    places, reads = source.data.size(1), target.data[:, :-1]
    plain = made(source, reads)
    for data in (longer, garbage):
        found = made(Padded(data, source.lengths), reads)
        torch.testing.assert_close(found.logits, plain.logits, atol=1e-10, rtol=0)
        torch.testing.assert_close(found.weights[:, :, :places], plain.weights, atol=1e-10, rtol=0)
        assert (found.weights[:, :, places:] == 0).all()
