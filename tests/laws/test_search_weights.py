"""What a search reports is what the model says when it is given the same answer to read."""

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.data.vocabulary import BEGIN, END
from regard.decoders.step import Decoded
from regard.model import EncoderDecoder
from regard.prediction import Prediction
from regard.recipe import Search
from regard.tasks.sequence import Request, answer, force
from tests.tiny import ATTENTIONS, CODEC, EXAMPLES, model, padded

SHORT = {"longest_ratio": 0.5, "longest_extra": 3}
SEARCHES = {
    "greedy": Request(Search(beam=1, **SHORT)),
    "beam": Request(Search(beam=4, **SHORT), nbest=4),
    "coverage": Request(Search(beam=5, coverage_penalty=0.4, no_repeat=2, shortest=2, **SHORT), nbest=5),
    "prefix": Request(Search(beam=4, **SHORT), nbest=4, prefix="xv"),
    "sampling": Request(Search(**SHORT), sampling=True, nbest=3, temperature=1.5, top_k=4),
}

SEEING = [name for name in ATTENTIONS if name not in ("fixed", "none")]

every_attention = pytest.mark.parametrize("attention", ATTENTIONS)
every_search = pytest.mark.parametrize("search", SEARCHES)


def answers(made: EncoderDecoder, request: Request) -> list[Prediction]:
    """All of the n-best of all sources."""
    best = answer([made], CODEC, EXAMPLES, request, range(len(EXAMPLES)))
    return [one for first in best for one in (first.nbest or [first])]


def teacher_forced(made: EncoderDecoder, found: list[Prediction]) -> Decoded:
    """All answers at once, each as if it had been the target."""
    sources = padded(*(CODEC.source.vocabulary.encode(one.source_tokens) for one in found))
    targets = padded(*([BEGIN, *CODEC.target.vocabulary.encode(one.output_tokens)] for one in found))
    return made(sources, targets.data)


def log_probability(one: Prediction, log_probs: Tensor) -> float:
    """Of its symbols, and of END if it ended."""
    wanted = CODEC.target.vocabulary.encode(one.output_tokens) + [END] * one.finished
    return sum(log_probs[t, symbol].item() for t, symbol in enumerate(wanted))


@every_attention
@every_search
@pytest.mark.parametrize("query", ["previous", "current"])
@torch.no_grad()
def test_reported_is_teacher_forced(attention: str, search: str, query: str) -> None:
    options = {"cell": "gru", "decoder_layers": 2} if query == "current" else {"cell": "lstm", "output": "deep"}
    made = model(2, **ATTENTIONS[attention], query=query, input_feeding=True, **options)
    found = answers(made, SEARCHES[search])
    assert len(found) == len(EXAMPLES) * max(SEARCHES[search].nbest, 1)
    decoded = teacher_forced(made, found)
    for one, logits, weights in zip(found, *decoded, strict=True):
        assert one.log_probability == pytest.approx(log_probability(one, logits.log_softmax(-1)), abs=1e-9)
        if made.attends:
            rows = weights[: len(one.output_tokens), : len(one.source_tokens)]
            np.testing.assert_allclose(one.attention, rows, atol=1e-6, rtol=0)
        else:
            assert one.attention is None


@every_attention
@torch.no_grad()
def test_forced_is_teacher_forced(attention: str) -> None:
    """All lengths in one batch, an empty answer among them."""
    made = model(2, **ATTENTIONS[attention], input_feeding=True)
    targets = [list("uvw"), list("y"), [], list("xuxu"), list("vyxwvux"), list("w"), list("yyu")]
    found = force([made], CODEC, EXAMPLES, targets, 0.6)
    decoded = teacher_forced(made, [one.prediction for one in found])
    for target, (one, following), logits, weights in zip(targets, found, *decoded, strict=True):
        log_probs = logits.log_softmax(-1)
        assert (one.output_tokens, one.output, one.finished) == (target, "".join(target), True)
        assert one.log_probability == pytest.approx(log_probability(one, log_probs), abs=1e-9)
        assert one.score == pytest.approx(one.log_probability / (len(target) + 1) ** 0.6, abs=1e-9)
        np.testing.assert_allclose(following, log_probs[len(target)], atol=1e-5)
        if made.attends:
            np.testing.assert_allclose(one.attention, weights[: len(target), : len(one.source_tokens)], atol=1e-6)
        else:
            assert one.attention is None


@pytest.mark.parametrize("attention", SEEING)
@torch.no_grad()
def test_the_rows_of_hypotheses_differ(attention: str) -> None:
    """Else a row of another hypothesis could stand in for the right one."""
    models = [model(seed, **ATTENTIONS[attention], input_feeding=True) for seed in range(3)]
    firsts = [one for made in models for one in answer([made], CODEC, EXAMPLES, SEARCHES["coverage"], range(7))]
    pairs = [pair for first in firsts for pair in itertools.combinations(first.nbest, 2)]
    assert max(difference(one, other) for one, other in pairs) > 1e-2


def difference(one: Prediction, other: Prediction) -> float:
    """Of the rows of the same step."""
    assert one.attention is not None
    assert other.attention is not None
    return max((np.abs(a - b).max() for a, b in zip(one.attention, other.attention, strict=False)), default=0.0)


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
@torch.no_grad()
def test_scores_follow_from_log_probabilities(penalty: float) -> None:
    made = model(2)
    for beam in (1, 4):
        for one in answers(made, Request(Search(beam=beam, length_penalty=penalty, **SHORT))):
            length = max(len(one.output_tokens) + one.finished, 1)
            assert one.score == pytest.approx(one.log_probability / length**penalty, abs=1e-9)


@torch.no_grad()
def test_models_together_report_their_mean() -> None:
    models = [model(2), model(3, score="dot", cell="gru")]
    found = answer(models, CODEC, EXAMPLES, SEARCHES["beam"], range(7))
    decoded = [teacher_forced(made, found) for made in models]
    mean = sum(each.logits.softmax(-1) for each in decoded) / 2
    weights = sum(each.weights for each in decoded) / 2
    for row, one in enumerate(found):
        assert one.log_probability == pytest.approx(log_probability(one, mean[row].log()), abs=1e-9)
        rows = weights[row, : len(one.output_tokens), : len(one.source_tokens)]
        np.testing.assert_allclose(one.attention, rows, atol=1e-6, rtol=0)
