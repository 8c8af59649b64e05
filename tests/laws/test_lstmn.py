"""The laws of batches and of search, for LSTMN encoders and decoders, whose states grow while they write."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from regard.data.vocabulary import BEGIN
from regard.recipe import Search
from regard.tasks.sequence import Request, batch, force, loss
from tests.laws import test_batch_invariance as batches
from tests.laws import test_exhaustive as exhaustive
from tests.laws import test_search_weights as searches
from tests.tiny import CODEC, EXAMPLES, model, padded

KINDS: dict[str, dict[str, Any]] = {
    "shallow": {},
    "current": {"query": "current", "decoder_layers": 2, "encoder_layers": 2, "bidirectional": False},
    "coverage": {"terms": ("coverage",), "score": "mlp", "start": "mean"},
    "deep": {"fusion": "deep"},
    "deep-layers": {"fusion": "deep", "decoder_layers": 2, "encoder_layers": 2, "output": "deep"},
    "alone": {"attention": "none"},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@pytest.mark.parametrize("search", [*batches.SEARCHES, *batches.OTHER_SEARCHES])
def test_nothing_depends_on_batch_mates(kind: str, search: str) -> None:
    made = model(4, cell="lstmn", **KINDS[kind])
    batches.check([made], {**batches.SEARCHES, **batches.OTHER_SEARCHES}[search])


@every_kind
def test_the_loss_of_a_batch_is_the_sum_of_its_examples(kind: str) -> None:
    made = model(5, cell="lstmn", **KINDS[kind])
    alone = [loss(made, batch(batches.ENCODINGS, [number]), 0.1) for number in batches.NUMBERS]
    together = loss(made, batch(batches.ENCODINGS, batches.NUMBERS), 0.1)
    for name in ("total", "nll", "symbols"):
        expected = sum(getattr(one, name).item() for one in alone)
        assert getattr(together, name).item() == pytest.approx(expected, abs=1e-9)


@every_kind
@pytest.mark.parametrize("search", searches.SEARCHES)
@torch.no_grad()
def test_reported_is_teacher_forced(kind: str, search: str) -> None:
    """Also the look back: of every hypothesis its own."""
    made = model(2, cell="lstmn", **KINDS[kind])
    found = searches.answers(made, searches.SEARCHES[search])
    decoded = searches.teacher_forced(made, found)
    for one, logits, weights in zip(found, *decoded, strict=True):
        size = len(one.output_tokens)
        expected = searches.log_probability(one, logits.log_softmax(-1))
        assert one.log_probability == pytest.approx(expected, abs=1e-9)
        if made.attends:
            np.testing.assert_allclose(one.attention, weights[:size, : len(one.source_tokens)], atol=1e-6, rtol=0)
        (look,) = one.looks
        source = padded(CODEC.source.vocabulary.encode(one.source_tokens))
        tokens = torch.tensor([[BEGIN, *CODEC.target.vocabulary.encode(one.output_tokens)]])
        earlier = made.decoder.look_back(tokens, made.encode(source)).weights[0]
        np.testing.assert_allclose(look.weights, earlier, atol=1e-6, rtol=0)
        assert (look.name, look.rows) == ("earlier words", one.output_tokens)
        assert look.columns == ["<begin>", *one.output_tokens][:size]


@every_kind
@torch.no_grad()
def test_given_answers_have_their_looks(kind: str) -> None:
    made = model(2, cell="lstmn", **KINDS[kind])
    targets = [list("uvw"), list("y"), [], list("xuxu"), list("vyxwvux"), list("w"), list("yyu")]
    for target, one in zip(targets, force([made], CODEC, EXAMPLES, targets, 1.0), strict=True):
        (look,) = one.prediction.looks
        assert look.weights.shape == (len(target), len(target))
        np.testing.assert_allclose(look.weights.sum(-1), np.ones(len(target)), atol=1e-6)


@pytest.mark.parametrize("kind", ["shallow", "deep"])
@torch.no_grad()
def test_a_wide_beam_is_brute_force(kind: str) -> None:
    made = model(1, exhaustive.CODEC, cell="lstmn", **KINDS[kind])
    search = Search(beam=exhaustive.SPACE, length_penalty=0.6, coverage_penalty=0.5, **exhaustive.SHORT)
    found = exhaustive.asked(made, Request(search, nbest=exhaustive.SPACE))
    for source, ranked in zip(exhaustive.SOURCES, found, strict=True):
        exhaustive.same(ranked, exhaustive.by_brute_force(made, source.source, 0.6, 0.5))


def test_the_looks_differ() -> None:
    """Else those of another hypothesis could stand in for the right ones."""
    made = model(2, cell="lstmn")
    nbest = [one.looks[0].weights for one in searches.answers(made, searches.SEARCHES["coverage"])]
    pairs = [(one, other) for one, other in itertools.combinations(nbest, 2) if one.shape == other.shape]
    assert max(np.abs(one - other).max() for one, other in pairs) > 1e-2
