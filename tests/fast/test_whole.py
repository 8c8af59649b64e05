"""Layers and decoders as one call of whole.c are what their parts are, with dropout too: the same numbers are drawn."""

import ctypes
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.data.batching import Padded
from regard.decoders import recurrent
from regard.encoders import recurrent as encoders
from regard.fast import cross_entropy as cross_entropies
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


SPOILT = 1024  # numbers behind a call's room that are not the call's


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("embed", "hidden"), [(300, 300), (300, 128), (128, 300), (620, 500)])
def test_no_call_writes_beyond_the_room_it_asked_for(
    embed: int, hidden: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes that are no multiple of a panel, of few rows, so that weights in panels are most of the room."""
    called = []

    def run(kernel: Any, size: Any, given: Any) -> Any:
        needed = size(ctypes.byref(given))
        room = torch.full((needed + SPOILT + 16,), 7.0)
        begin = -(-room.data_ptr() // 64) * 64  # on a line of the cache, as scratch gives it
        result = kernel(ctypes.byref(given), begin)
        beyond = (begin - room.data_ptr()) // 4 + -(-needed // 16) * 16
        assert (room[beyond:] == 7).all(), kernel.__name__
        called.append(kernel.__name__)
        return result

    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    for module in (hearing, reciting, cross_entropies):
        monkeypatch.setattr(module, "run", run)
    made = model(std=0.02, embed=embed, hidden=hidden, readout=77, compare=45).float().train()
    loss(made, BATCH).total.backward()
    assert called == ["hear", "recite", "tell", "recite_back", "hear_back"]


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_what_is_kept_for_the_way_back_may_move(dropout: float) -> None:
    """Under hooks on saved tensors, torch's checkpoints among them."""
    made = model(std=0.3, dropout=dropout, embed=40, hidden=64).float().train()
    wanted = learnt(made)
    with torch.autograd.graph.saved_tensors_hooks(lambda one: one.detach().clone(), lambda one: one):
        torch.manual_seed(5)
        made.zero_grad()
        told = loss(made, BATCH, smoothing=0.1)
    spoilt = [torch.full((count,), 1e9) for count in range(64, 200_000, 64)]  # what was freed belongs to others now
    told.total.backward()
    assert len(spoilt) > 1000
    assert_alike(wanted, (told.total.detach(), {name: one.grad for name, one in made.named_parameters()}))


def test_a_source_without_symbols_teaches_nothing() -> None:
    made = model(std=0.3).float().train()
    made.encode(Padded(torch.zeros(2, 1, dtype=torch.int64), torch.tensor([0, 0]))).values.sum().backward()
    for weight in made.encoder.parameters():
        assert weight.grad is None or (weight.grad == 0).all()


@pytest.mark.parametrize("number", [-1, 10_000])
@pytest.mark.parametrize("learns", [True, False])
def test_symbols_that_the_table_has_not_are_an_error(number: int, learns: bool) -> None:
    made = model(std=0.3).float().train(learns)
    source = Padded(torch.tensor([[5, number]]), torch.tensor([2]))
    with torch.set_grad_enabled(learns), pytest.raises(IndexError):
        made.encode(source)
    with pytest.raises(IndexError):
        made.decoder(source.data, made.encode(BATCH.source))


def test_lengths_beyond_the_places_are_an_error() -> None:
    made = model(std=0.3).float().train()
    with pytest.raises(ValueError, match=r"lengths are \[3, 1\]; expected 0 to 2"):
        made.encode(Padded(torch.ones(2, 2, dtype=torch.int64), torch.tensor([3, 1])))


@pytest.mark.parametrize("target", [-100, 11])
def test_targets_that_are_no_symbols_are_an_error(target: int) -> None:
    readouts, weight, bias = torch.randn(3, 5), torch.randn(11, 5), torch.randn(11)
    with pytest.raises((RuntimeError, IndexError)):
        linear_cross_entropy(readouts, weight, bias, torch.tensor([1, target, 2]), 0, 0.1)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_who_only_measures_makes_no_gradients(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, tell = [], cross_entropies._tell
    monkeypatch.setattr(cross_entropies, "_tell", lambda one, *others: asked.append(one) or tell(one, *others))
    made = model(std=0.3).float().eval()
    loss(made, BATCH)
    with mode():
        loss(made, BATCH)
    assert [one.learns for one in asked] == [True, False]


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


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_whatever_torch_makes_by_default_the_kernels_get_float32(dtype: torch.dtype) -> None:
    made = model(std=0.3).float().train()
    wanted, before = learnt(made), torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        assert Scratch().__enter__().take(3, 5).dtype == torch.float32
        assert_alike(wanted, learnt(made))
    finally:
        torch.set_default_dtype(before)


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
