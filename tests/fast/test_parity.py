"""The fast spelling equals the plain one, which is the reference, in outputs, weights, gradients and answers.

With layers and decoders as one call of whole.c or call by call, on one thread and on several, with loops in Python, and
without a compiler; in float32, since that is what the kernels know.
"""

import itertools
from dataclasses import dataclass
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor, nn

from regard.attention import soft
from regard.cells import CELLS
from regard.decoders import quick, recurrent
from regard.encoders import recurrent as encoders
from regard.fast import (
    attend,
    cross_entropy,
    encoding,
    gates,
    greedy,
    hearing,
    inside,
    kernels,
    products,
    reading,
    reading_inside,
    reciting,
    recurrence,
)
from regard.fast.switch import plain
from regard.model import EncoderDecoder
from regard.recipe import Search
from regard.tasks.sequence import Request, answer, batch, encode, loss
from tests.tiny import ATTENTIONS, CODEC, EXAMPLES, model

SCORES = ("dot", "scaled", "projected", "bilinear", "additive", "mlp")
DECODERS: dict[str, dict[str, Any]] = {
    "reads, then moves": {},
    "moves, then reads": {"query": "current"},
    "feeds": {"input_feeding": True},
    "layers": {"encoder_layers": 2, "decoder_layers": 3},
    "residual layers": {"decoder_layers": 2, "residual": True},
    "maxout": {"output": "maxout"},
    "one direction": {"bidirectional": False},
}


@pytest.fixture(params=["whole", "call by call", "several threads", "loops in Python", "torch"], autouse=True)
def spelling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param in ("call by call", "loops in Python", "torch"):
        for module in (recurrent, encoders):
            monkeypatch.setattr(module, "begins_here", lambda table, tokens: False)
    if request.param == "torch":
        for module in (attend, gates, recurrence):
            monkeypatch.setattr(module, "library", lambda: None)
        monkeypatch.setattr(cross_entropy, "fits", lambda readouts: False)
    elif kernels.library() is None:
        pytest.skip("this machine has no C compiler")
    elif request.param == "several threads":
        for module in (encoding, greedy, hearing, inside, reading_inside, reciting):
            monkeypatch.setattr(module, "team", lambda rows: min(3, rows))
    elif request.param == "loops in Python":  # products by torch
        for module in (reading, recurrence):
            monkeypatch.setattr(module, "loops_inside", lambda rows: False)
        for module in (encoding, quick):
            monkeypatch.setattr(module, "search_inside", lambda size: False)
    return str(request.param)


@dataclass
class Outcome:
    logits: Tensor
    weights: Tensor
    gradients: dict[str, Tensor]


def outcome(made: EncoderDecoder) -> Outcome:
    """Of one batch with sources and targets of many lengths; the weights also take part in the loss."""
    made.zero_grad()
    examples = batch(encode(CODEC, EXAMPLES), list(range(len(EXAMPLES))))
    decoded = made(examples.source, examples.target.data[:, :-1])
    (loss(made, examples, smoothing=0.1).total + decoded.weights.square().sum()).backward()
    gradients = {name: weight.grad for name, weight in made.named_parameters() if weight.grad is not None}
    return Outcome(decoded.logits, decoded.weights, gradients)


def check(**options: Any) -> None:
    made = model(std=0.3, **options).float()
    fast = outcome(made)
    with plain():
        reference = outcome(made)
    torch.testing.assert_close(fast.logits, reference.logits, atol=1e-5, rtol=0)
    torch.testing.assert_close(fast.weights, reference.weights, atol=1e-5, rtol=0)
    assert fast.gradients.keys() == reference.gradients.keys()
    for name, gradient in reference.gradients.items():
        torch.testing.assert_close(fast.gradients[name], gradient, atol=1e-5, rtol=1e-4, msg=name)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("cell", CELLS)
def test_every_score_and_cell(cell: str, score: str) -> None:
    check(cell=cell, score=score)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_every_attention(name: str) -> None:
    check(**ATTENTIONS[name])


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder(name: str, cell: str) -> None:
    check(cell=cell, **DECODERS[name])


@pytest.mark.parametrize("name", ["reads, then moves", "moves, then reads", "one direction"])
def test_gates_that_lie_a_line_further_apart(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of 256 and 512 units do."""
    monkeypatch.setattr(products, "PAGE", 1)
    check(**DECODERS[name])


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("layers", [1, 2])
def test_torchs_own_loop(layers: int, score: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a GPU gets for decoders that move, then read, tried here."""
    monkeypatch.setattr(recurrent, "uses_own_loop", lambda _: True)
    monkeypatch.setattr(recurrent, "lstm_states", None)  # so it was not our loop
    check(query="current", score=score, decoder_layers=layers)


@pytest.mark.parametrize("score", SCORES)
def test_contexts_without_their_weights(score: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By torch's fused attention where it knows the score; here a source may also have nothing to read."""
    made = model(std=0.3, query="current", score=score).float()
    attention, encoded = made.decoder.attention, made.encode(batch(encode(CODEC, EXAMPLES), [0, 1, 2]).source)
    memory = attention.remember(encoded._replace(mask=encoded.mask & torch.tensor([[True], [True], [False]])))
    query = torch.randn(3, 5, 6)
    fused = Mock(wraps=soft.scaled_dot_product_attention)
    monkeypatch.setattr(soft, "scaled_dot_product_attention", fused)
    torch.testing.assert_close(attention.contexts(query, memory), attention(query, memory).context, atol=1e-5, rtol=0)
    assert fused.called == (score in ("dot", "scaled", "projected", "bilinear"))


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("name", DECODERS)
def test_answers(name: str, beam: int) -> None:
    made = model(std=0.5, **DECODERS[name]).float()
    request = Request(Search(beam=beam), nbest=beam)
    numbers = list(range(len(EXAMPLES)))
    fast = answer([made], CODEC, EXAMPLES, request, numbers)
    with plain():
        reference = answer([made], CODEC, EXAMPLES, request, numbers)
    for one, other in zip(fast, reference, strict=True):
        assert [each.output for each in one.nbest] == [each.output for each in other.nbest]
        for each, same in zip(one.nbest, other.nbest, strict=True):
            assert each.score == pytest.approx(same.score, abs=1e-5)
            assert each.attention == pytest.approx(same.attention, abs=1e-5)


@pytest.mark.parametrize("name", ["reads, then moves", "moves, then reads", "layers"])
@pytest.mark.parametrize("size", [5.0, 12.0, 30.0])
def test_far_queries_and_keys(name: str, size: float) -> None:
    """Beyond the exponentials' reach the plain tanh takes over; up to there nothing overflows."""
    made = model(std=0.3, **DECODERS[name]).float()
    with torch.no_grad():
        score = made.decoder.attention.score
        score.W.weight.mul_(size)
        score.U.weight.mul_(size)
    examples = batch(encode(CODEC, EXAMPLES), list(range(len(EXAMPLES))))
    inputs = (examples.source, examples.target.data[:, :-1])
    fast = made(*inputs)
    with plain():
        reference = made(*inputs)
    assert fast.logits.isfinite().all()
    torch.testing.assert_close(fast.logits, reference.logits, atol=1e-5, rtol=0)
    request = Request(Search(beam=3))
    answers = answer([made], CODEC, EXAMPLES, request, list(range(len(EXAMPLES))))
    with plain():
        wanted = answer([made], CODEC, EXAMPLES, request, list(range(len(EXAMPLES))))
    assert [one.output for one in answers] == [one.output for one in wanted]


def test_a_source_with_nothing_to_read_has_no_weights_and_no_gradient() -> None:
    made = model(std=0.3).float()
    encoded = made.encode(batch(encode(CODEC, EXAMPLES), [0, 1]).source)
    blind = encoded._replace(mask=torch.zeros_like(encoded.mask))
    decoded = made.decoder(torch.tensor([[2, 5], [2, 6]]), blind)
    assert (decoded.weights == 0).all()
    decoded.logits.sum().backward()
    score = made.decoder.attention.score
    assert (score.v.weight.grad == 0).all()


def test_dropout_between_layers_is_drawn_and_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The node of the whole loop gets masks like any other layer: with a fixed one both spellings agree."""
    made = model(std=0.3, decoder_layers=2).float()
    noise = torch.tensor([0.0, 2.0, 2.0, 0.0, 2.0, 2.0])  # (H,)
    monkeypatch.setattr(made.decoder.dropout, "fresh", lambda like: noise.expand_as(like).contiguous())
    monkeypatch.setattr(
        made.decoder.dropout, "forward", lambda x, _=None: x * noise if x.size(-1) == 6 and x.dim() == 2 else x
    )
    fast = outcome(made)
    with plain():
        reference = outcome(made)
    torch.testing.assert_close(fast.logits, reference.logits, atol=1e-5, rtol=0)
    for name, gradient in reference.gradients.items():
        torch.testing.assert_close(fast.gradients[name], gradient, atol=1e-5, rtol=1e-4, msg=name)


def test_the_loop_is_one_node(spelling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That the fast spelling is taken at all, where it should be."""
    heard, recited, read = Mock(wraps=encoders.hear), Mock(wraps=recurrent.recite), Mock(wraps=recurrent.read_all)
    monkeypatch.setattr(encoders, "hear", heard)
    monkeypatch.setattr(recurrent, "recite", recited)
    monkeypatch.setattr(recurrent, "read_all", read)
    outcome(model(std=0.3).float())
    assert heard.called == recited.called == (spelling in ("whole", "several threads"))
    assert read.called == (spelling in ("call by call", "loops in Python"))


def written(module: nn.Module, name: str) -> None:
    with torch.no_grad():
        module.get_parameter(name).mul_(-1.5)


def assigned(module: nn.Module, name: str) -> None:
    """As torch.nn.utils.vector_to_parameters does, which tells nobody"""
    module.get_parameter(name).data = module.get_parameter(name).data * 0.7


def exchanged(module: nn.Module, name: str) -> None:
    owner, _, last = name.rpartition(".")
    setattr(module.get_submodule(owner), last, nn.Parameter(module.get_parameter(name).detach() * -1.1))


def test_a_model_made_in_inference_mode_answers() -> None:
    """Its weights cannot tell whether they have changed."""
    request, numbers = Request(Search(beam=1)), list(range(len(EXAMPLES)))
    wanted = answer([model(std=0.5).float()], CODEC, EXAMPLES, request, numbers)
    with torch.inference_mode():
        made = model(std=0.5).float()
    found = answer([made], CODEC, EXAMPLES, request, numbers)
    assert [one.score for one in found] == pytest.approx([one.score for one in wanted], abs=1e-5)


def test_answers_follow_the_weights() -> None:
    """What search arranges of the weights is kept from call to call, but not beyond a change of them."""
    made, request, numbers = model(std=0.5).float(), Request(Search(beam=1)), list(range(len(EXAMPLES)))
    before = answer([made], CODEC, EXAMPLES, request, numbers)
    names = ("words.weight", "cells.0.W.bias", "context_drive.weight", "attention.score.W.weight")
    for name, change in itertools.product((*names, "attention.score.v.weight"), (written, assigned, exchanged)):
        change(made.decoder, name)
        fast = answer([made], CODEC, EXAMPLES, request, numbers)
        with plain():
            reference = answer([made], CODEC, EXAMPLES, request, numbers)
        assert [one.score for one in fast] == pytest.approx([one.score for one in reference], abs=1e-5)
        assert [one.score for one in fast] != pytest.approx([one.score for one in before], abs=1e-5)
        before = fast
