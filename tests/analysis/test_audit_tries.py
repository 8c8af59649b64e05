"""What is tried on models: other weights, erasures, gradients, shuffles; each against a plain loop, and its laws."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.analysis.audit.altered import Change, altered, erase, reorder, uniform
from regard.analysis.audit.erasure import erase_symbols, erase_weights
from regard.analysis.audit.gradients import gradient_times_input, log_probs
from regard.analysis.audit.permutation import draw_orders, shuffle_weights
from regard.analysis.audit.walking import Array, array, walk
from regard.data.batching import Padded, pad
from regard.data.vocabulary import BEGIN, UNKNOWN
from regard.decoders.recurrent import RecurrentDecoder
from regard.fast.switch import plain
from regard.model import EncoderDecoder
from tests.tiny import ATTENTIONS, CODEC, EXAMPLES, model

KINDS = {name: options for name, options in ATTENTIONS.items() if name not in ("fixed", "none")}
KINDS |= {"luong": {"query": "current", "input_feeding": True}, "layers": {"decoder_layers": 2, "residual": True}}
KINDS |= {"lstmn": {"cell": "lstmn"}, "deep": {"cell": "lstmn", "fusion": "deep"}}
SOURCES = [CODEC.source.vocabulary.encode(CODEC.source_symbols(one)) for one in EXAMPLES]
TARGETS = [[BEGIN, *CODEC.target.vocabulary.encode(CODEC.target_symbols(one.target))] for one in EXAMPLES]


@pytest.fixture(params=KINDS)
def any_model(request: pytest.FixtureRequest) -> EncoderDecoder:
    return model(std=0.7, **KINDS[request.param]).requires_grad_(False)


def batch() -> tuple[Padded, Tensor]:
    return pad(SOURCES), pad(TARGETS).data


def alone(number: int) -> tuple[Padded, Tensor]:
    return pad([SOURCES[number]]), pad([TARGETS[number]]).data


def decoded(made: EncoderDecoder, source: Padded, tokens: Tensor, change: Change | None = None) -> Any:
    if change is None:
        with plain():
            return made(source, tokens[:, :-1])
    with altered(made, change):
        return made(source, tokens[:, :-1])


def probabilities(made: EncoderDecoder, number: int, change: Change | None = None) -> Array:
    """(T, N) of all steps"""
    return array(decoded(made, *alone(number), change).logits.softmax(-1)[0])


def same(weights: Tensor, mask: Tensor) -> Tensor:
    return weights


def test_weights_that_stay_change_nothing_and_the_door_is_closed_behind(any_model: EncoderDecoder) -> None:
    before = decoded(any_model, *batch())
    within = decoded(any_model, *batch(), same)
    flat = decoded(any_model, *batch(), uniform)
    after = decoded(any_model, *batch())
    torch.testing.assert_close(within.logits, before.logits, rtol=0, atol=1e-12)
    assert float((flat.logits - before.logits).abs().max()) > 1e-3
    assert torch.equal(after.logits, before.logits)


def test_uniform_weights_are_one_over_the_number_of_real_places(any_model: EncoderDecoder) -> None:
    source, tokens = batch()
    weights = decoded(any_model, source, tokens, uniform).weights
    for row, length in enumerate(source.lengths.tolist()):
        torch.testing.assert_close(weights[row, :, :length], torch.full_like(weights[row, :, :length], 1 / length))
        assert not weights[row, :, length:].any()


def test_the_context_is_that_of_the_changed_weights() -> None:
    """A plain loop over c = Σ_j α'_j h_j."""
    made = model(std=0.7).requires_grad_(False)
    decoder = made.decoder
    assert isinstance(decoder, RecurrentDecoder)
    encoded = made.encode(alone(3)[0])
    order = torch.tensor([[2, 0, 1, 5, 3, 4]])
    query = torch.randn(1, 1, 6, dtype=torch.float64)
    with plain():
        memory = decoder.attention.remember(encoded)
        weights = array(decoder.attention(query, memory).weights[0, 0])
    with altered(made, reorder(order)):
        found = decoder.attention(query, memory)
    context = np.zeros(encoded.values.size(-1))
    for place in range(6):
        context += weights[order[0, place]] * array(encoded.values[0, place])
    np.testing.assert_allclose(array(found.context[0, 0]), context, atol=1e-12)


def test_erased_weights_by_hand() -> None:
    weights = torch.tensor([[[0.5, 0.3, 0.2, 0.0]], [[0.0, 1.0, 0.0, 0.0]], [[0.5, 0.3, 0.2, 0.0]]])
    gone = torch.tensor([[True, False, False, False], [False, True, False, False], [False, False, False, True]])
    found = erase(gone)(weights, torch.ones(3, 4, dtype=torch.bool))
    torch.testing.assert_close(found[0, 0], torch.tensor([0, 0.6, 0.4, 0]))
    assert not found[1].any()  # all weight stood there: nothing is read
    assert torch.equal(found[2], weights[2])  # none did


def test_each_step_with_an_erased_weight_equals_one_step_by_itself(any_model: EncoderDecoder) -> None:
    """In a batch, all places at once, against each step of each place alone; what is before that step stays."""
    source, tokens = batch()
    with plain():
        moved = erase_weights(any_model, walk(any_model, source, tokens), source.mask)
    number = 3  # six places, two steps
    before = probabilities(any_model, number)
    for place in range(6):
        gone = (torch.arange(6) == place)[None]
        for step in range(2):
            wanted = TARGETS[number][step + 1]
            after = one_step_changed(any_model, number, step, erase(gone))
            drop = np.log(before[step, wanted]) - np.log(after[wanted])
            assert moved.drop[number, step, place] == pytest.approx(drop, abs=1e-9)
            variation = np.abs(before[step] - after).sum() / 2
            assert moved.variation[number, step, place] == pytest.approx(variation, abs=1e-9)


def one_step_changed(made: EncoderDecoder, number: int, step: int, change: Change) -> Array:
    """p(y_t) if only step t reads otherwise: every step is taken anew, counting."""
    source, tokens = alone(number)
    with plain():
        state, memory = made.decoder.start(made.encode(source))
        for place in range(step):
            state = made.decoder.step(tokens[:, place], state, memory).state
    with altered(made, change):
        return array(made.decoder.step(tokens[:, step], state, memory).logits.softmax(-1)[0])


def test_erasing_a_place_without_weight_changes_nothing() -> None:
    made = model(std=1.5, normalise="sparsemax", score="bilinear").requires_grad_(False)
    source, tokens = batch()
    with plain():
        walked = walk(made, source, tokens)
        moved = erase_weights(made, walked, source.mask)
    unread = (walked.weights() == 0) & source.mask[:, None].numpy()
    assert unread.sum() > 20
    assert np.abs(moved.drop[unread]).max() < 1e-12
    assert moved.variation[unread].max() < 1e-12
    assert moved.variation[walked.weights() > 0.5].max() > 0.1


def test_an_erased_symbol_is_an_unknown_one(any_model: EncoderDecoder) -> None:
    source, tokens = batch()
    with plain():
        moved = erase_symbols(any_model, walk(any_model, source, tokens), source, tokens)
    number = 5
    before = probabilities(any_model, number)
    for place in range(len(SOURCES[number])):
        erased = [UNKNOWN if place == other else symbol for other, symbol in enumerate(SOURCES[number])]
        after = array(decoded(any_model, pad([erased]), alone(number)[1]).logits.softmax(-1)[0])
        for step, wanted in enumerate(TARGETS[number][1:]):
            drop = np.log(before[step, wanted]) - np.log(after[step, wanted])
            assert moved.drop[number, step, place] == pytest.approx(drop, abs=1e-9)


def test_gradient_times_input_equals_finite_differences(any_model: EncoderDecoder) -> None:
    source, tokens = alone(0)
    with plain():
        found = gradient_times_input(any_model, source, tokens)[0]  # (T, S)
        vectors = any_model.encoder[0](source).data  # type: ignore[index]  # (1, S, E)
        for place in range(3):
            step = torch.zeros_like(vectors)
            step[:, place] = 1e-5 * vectors[:, place]  # along the input: the product with it is the slope
            ahead, behind = (
                log_probs(any_model, Padded(vectors + sign * step, source.lengths), tokens)[0] for sign in (1, -1)
            )
            np.testing.assert_allclose(found[:, place], array((ahead - behind) / 2e-5), rtol=1e-5, atol=1e-7)
    assert np.abs(found).max() > 1e-3


def test_gradients_do_not_depend_on_the_batch(any_model: EncoderDecoder) -> None:
    with plain():
        together = gradient_times_input(any_model, *batch())
        for number in (1, 4):
            one = gradient_times_input(any_model, *alone(number))[0]
            np.testing.assert_allclose(together[number, : one.shape[0], : one.shape[1]], one, atol=1e-10)


def test_orders_are_orders_of_real_places_whatever_the_batch() -> None:
    together = draw_orders(1, [7, 3], [5, 2], steps=4, draws=3)
    assert together.shape == (2, 4, 3, 5)
    assert (together.sort(-1).values == torch.arange(5)).all()
    assert (together[1, ..., 2:] == torch.arange(2, 5)).all()
    assert torch.equal(draw_orders(1, [7], [5], 2, 3)[0], together[0, :2])
    assert not torch.equal(draw_orders(2, [7], [5], 4, 3)[0], together[0])


def test_shuffled_weights_move_as_far_as_a_loop_says(any_model: EncoderDecoder) -> None:
    source, tokens = batch()
    orders = draw_orders(1, range(7), [len(one) for one in SOURCES], tokens.size(1) - 1, draws=2)
    with plain():
        found = shuffle_weights(any_model, walk(any_model, source, tokens), orders)
    number, step = 3, 1
    before = probabilities(any_model, number)[step]
    for draw in range(2):
        after = one_step_changed(any_model, number, step, reorder(orders[number, step, draw : draw + 1, :6]))
        assert found.variation[number, step, draw] == pytest.approx(np.abs(before - after).sum() / 2, abs=1e-9)
        assert found.flipped[number, step, draw] == (before.argmax() != after.argmax())


def test_shuffling_uniform_weights_changes_nothing() -> None:
    made = model(std=0.7)
    made.decoder.attention.score.v.weight.data.zero_()  # type: ignore[attr-defined]
    source, tokens = batch()
    orders = draw_orders(1, range(7), [len(one) for one in SOURCES], tokens.size(1) - 1, draws=3)
    with plain(), torch.no_grad():
        found = shuffle_weights(made, walk(made, source, tokens), orders)
    assert found.variation.max() < 1e-12
    assert not found.flipped.any()
