"""Layers and decoders as one call of whole.c are what their parts are, with dropout too: the same numbers are drawn."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.decoders import recurrent
from regard.encoders import recurrent as encoders
from regard.fast import hearing, inside, kernels, reading_inside, reciting
from regard.fast.cross_entropy import linear_cross_entropy
from regard.fast.scratch import Scratch
from regard.losses import cross_entropy
from regard.model import EncoderDecoder
from regard.tasks.sequence import batch, encode, loss
from tests.tiny import CODEC, EXAMPLES, model

pytestmark = pytest.mark.skipif(kernels.library() is None, reason="this machine has no C compiler")
BATCH = batch(encode(CODEC, EXAMPLES), list(range(len(EXAMPLES))))
MODELS: dict[str, dict[str, Any]] = {
    "both directions": {},
    "one direction": {"bidirectional": False},
    "layers": {"encoder_layers": 3},
    "residual layers": {"encoder_layers": 2, "residual": True},
    "first state from nothing": {"start": "zero"},
    "first state learnt": {"start": "learned"},
    "two that write": {"reverse": 0.5},
    "beside CTC": {"ctc": 0.3},
    "weights that cost": {"localization": 0.1},
    "embeddings that the output shares": {"tie": True, "embed": 7},
    "wide": {"embed": 40, "hidden": 64, "readout": 48, "compare": 36},
}


@pytest.fixture(autouse=True)
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few rows there are for however many threads"""
    monkeypatch.setattr(hearing, "loops_inside", lambda rows: True)


def learnt(made: EncoderDecoder) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss and gradients with numbers dropped by the same seed."""
    torch.manual_seed(5)
    made.zero_grad()
    told = loss(made, BATCH, smoothing=0.1)
    told.total.backward()
    return told.total.detach(), {name: one.grad for name, one in made.named_parameters() if one.grad is not None}


def by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (encoders, recurrent):
        monkeypatch.setattr(module, "begins_here", lambda table, tokens: False)


def assert_alike(one: tuple[Tensor, dict[str, Tensor]], other: tuple[Tensor, dict[str, Tensor]]) -> None:
    torch.testing.assert_close(one[0], other[0], atol=1e-5, rtol=1e-5)
    assert one[1].keys() == other[1].keys()
    for name, gradient in one[1].items():
        torch.testing.assert_close(gradient, other[1][name], atol=1e-5, rtol=1e-4, msg=name)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", MODELS)
def test_one_call_is_its_parts_with_dropout(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = model(std=0.3, dropout=0.4, **MODELS[name]).float().train()
    for module in (hearing, inside, reading_inside, reciting):
        monkeypatch.setattr(module, "team", lambda rows: threads)
    at_once = learnt(made)
    by_parts(monkeypatch)
    assert_alike(at_once, learnt(made))


def test_the_padding_of_a_table_learns_nothing() -> None:
    made = model(std=0.3, dropout=0.4).float().train()
    _, gradients = learnt(made)
    for name in ("encoder.0.table.weight", "decoder.words.weight"):
        assert (gradients[name][0] == 0).all()
        assert (gradients[name] != 0).any()


def test_gradients_can_be_asked_for_twice() -> None:
    """Nothing that the way back reads is written over by it."""
    made = model(std=0.3, dropout=0.4).float().train()
    weights = [*made.encoder.parameters(), *made.decoder.attention.parameters()]
    encoded = made.encode(BATCH.source)
    readouts, _ = made.decoder.readouts(BATCH.target.data[:, :-1], encoded)
    total = readouts.square().sum()
    once, twice = (torch.autograd.grad(total, weights, retain_graph=True) for _ in range(2))
    for one, other in zip(once, twice, strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)


def test_a_weight_that_was_changed_meanwhile_is_an_error() -> None:
    made = model(std=0.3).float().train()
    told = loss(made, BATCH)
    with torch.no_grad():
        made.decoder.words.weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        told.total.backward()


@pytest.mark.parametrize("chunk", [1, 7 * 11, 1 << 20])  # a row at a time, a few, all
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_in_chunks(smoothing: float, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.fast.cross_entropy.CHUNK", chunk)
    torch.manual_seed(0)
    readouts, weight, bias = (torch.randn(*shape, requires_grad=True) for shape in ((40, 5), (11, 5), (11,)))
    targets = torch.randint(0, 11, (40,))  # 0 is padding
    told = linear_cross_entropy(readouts, weight, bias, targets, 0, smoothing)
    wanted = cross_entropy(torch.nn.functional.linear(readouts, weight, bias)[None], targets[None], smoothing)
    torch.testing.assert_close(told.total, wanted.total)
    torch.testing.assert_close(told.nll, wanted.nll)
    assert told.symbols == wanted.symbols
    gradients = [torch.autograd.grad(2 * one, (readouts, weight, bias)) for one in (told.total, wanted.total)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_cross_entropy_of_nothing_is_zero_and_teaches_nothing() -> None:
    readouts, weight, bias = (torch.randn(*shape, requires_grad=True) for shape in ((3, 5), (99, 5), (99,)))
    told = linear_cross_entropy(readouts, weight, bias, torch.zeros(3, dtype=torch.int64), 0, 0.1)  # all is padding
    assert told.total == told.symbols == 0
    for gradient in torch.autograd.grad(told.total, (readouts, weight, bias)):
        assert (gradient == 0).all()


def test_scratch_is_taken_in_pieces_that_do_not_overlap_and_given_back() -> None:
    scratch = Scratch()
    with scratch as room:
        first = room.take(3, 5).fill_(1)
        with room:
            second = room.take(100, 100).fill_(2)  # more than there was
        third = room.take(100, 99).fill_(3)
        assert (first == 1).all()
        assert (third == 3).all()
        assert second.shape == (100, 100)
    with scratch as room:
        begin = room.address(10)
        assert begin % 64 == 0
        with room:
            inner = room.address(10)
        assert room.address(10) == inner == begin + 64
    with scratch as room:
        assert room.address(1) == begin


def test_scratch_stays_where_it_is_once_it_is_large_enough() -> None:
    scratch = Scratch()

    def call() -> list[int]:
        with scratch as room:
            outer = room.address(100)
            with room:
                inner = room.address(1000)
            with room:
                return [outer, inner, room.address(2000)]

    call()
    assert call() == call()
