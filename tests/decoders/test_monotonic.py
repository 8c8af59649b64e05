"""The forward algorithm against every monotone path, one by one."""

import itertools

import numpy as np
import pytest
import torch

from regard.attention.monotonic import reweigh
from regard.cells import CELLS
from regard.data.vocabulary import BEGIN, END
from regard.decoders.output import OUTPUTS
from regard.model import EncoderDecoder
from regard.search.tree import pick
from tests.tiny import N, model, padded, softmax, unroll

SOURCE = padded([4, 5, 6, 7], [9, 8], [7])
TOKENS = torch.tensor([[BEGIN, 4, 5, 6], [BEGIN, 8, 8, 4], [BEGIN, 5, 7, 7]])
TARGETS = torch.tensor([[4, 5, 6, END], [8, 8, 4, END], [5, 7, 7, END]])


def make(**options: object) -> EncoderDecoder:
    return model(**{"attention": "monotonic", "jump": 1, **options})


def by_enumeration(made: EncoderDecoder, row: int, length: int) -> float:
    """log Σ_paths Π_t p(a_t | a_{t-1}) p(y_t | a_t)"""
    steps = [parts(made, row, length, t) for t in range(4)]
    total = 0.0
    for path in itertools.product(range(length), repeat=4):
        probability, before = 1.0, 0
        for place, (moves, emission) in zip(path, steps, strict=True):
            probability *= moves[before, place] * emission[place]
            before = place
        total += probability
    return float(np.log(total))


def parts(made: EncoderDecoder, row: int, length: int, t: int) -> tuple[np.ndarray, np.ndarray]:
    """p(a_t = j | a_{t-1} = i), zero where j < i, and p(y_t | a_t = j); s_t depends on the symbols alone."""
    decoder, encoded = made.decoder, made.encode(SOURCE)
    h, score, output = encoded.values[row, :length], decoder.transition.score, decoder.output
    state = tuple(part[row : row + 1] for part in decoder.first(encoded)[0])
    for token in TOKENS[row, : t + 1]:
        word = decoder.words(token)
        state = decoder.cells[0](decoder.cells[0].drive(word[None]), state)
    energy, bias = score(state[0][None], score.keys(h[None]))[0, 0].numpy(), decoder.transition.jump_bias.numpy()
    moves = np.zeros((length, length))
    for i in range(length):
        moves[i, i:] = softmax(np.array([energy[j] + bias[min(j - i, 1)] for j in range(i, length)]))
    logits = [output.logits(output.readout(state[0][0], h[j], word)) for j in range(length)]
    return moves, np.array([softmax(one.numpy())[TARGETS[row, t]] for one in logits])


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("cell", CELLS)
@torch.no_grad()
def test_sums_over_every_path(output: str, cell: str) -> None:
    made = make(output=output, cell=cell)
    found = made(SOURCE, TOKENS).logits.log_softmax(-1).gather(2, TARGETS[:, :, None]).sum((1, 2))
    for row, length in enumerate(SOURCE.lengths.tolist()):
        assert found[row].item() == pytest.approx(by_enumeration(made, row, length), abs=1e-10)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("layers", [1, 2])
def test_logits_are_log_probabilities(cell: str, layers: int) -> None:
    logits = make(cell=cell, decoder_layers=layers)(SOURCE, TOKENS).logits
    torch.testing.assert_close(logits.exp().sum(-1), torch.ones(3, 4).double(), atol=1e-10, rtol=0)


def test_all_strings_of_a_length_sum_to_one() -> None:
    made = make()
    strings = torch.tensor([[BEGIN, *string] for string in itertools.product(range(N), repeat=3)])  # (N³, 4)
    encoded = made.encode(padded([4, 5, 6]))
    many = pick(encoded, torch.zeros(len(strings), dtype=torch.long))
    log_probs = made.decoder(strings[:, :3], many).logits.gather(2, strings[:, 1:, None])
    assert log_probs.sum((1, 2)).exp().sum().item() == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("cell", CELLS)
def test_unrolled_steps_equal_forward(cell: str) -> None:
    made = make(cell=cell, decoder_layers=2)
    found, forward = unroll(made.decoder, TOKENS, *made.decoder.start(made.encode(SOURCE))), made(SOURCE, TOKENS)
    torch.testing.assert_close(found.logits, forward.logits, atol=1e-12, rtol=0)
    torch.testing.assert_close(found.weights, forward.weights, atol=1e-12, rtol=0)


def test_the_place_never_moves_back() -> None:
    """Wherever the last symbol was written from, the next is written no further left: of the place where y_t came
    from, now known, every share that has passed j has also passed it one step later."""
    made = make()
    state, memory = made.decoder.start(made.encode(SOURCE))
    posterior = state.prior
    assert posterior.argmax(-1).tolist() == [0, 0, 0]
    for token, target in zip(TOKENS.unbind(1), TARGETS.unbind(1), strict=True):
        step = made.decoder.step(token, state, memory)
        assert (step.weights.cumsum(-1) <= posterior.cumsum(-1) + 1e-12).all()
        likelihood = step.state.emission[torch.arange(3), :, target]
        posterior, state = reweigh(step.weights, likelihood).posterior, step.state


def test_the_expected_place_never_falls_where_symbols_tell_nothing() -> None:
    """If every place writes alike, the weights alone show it."""
    made = make()
    with torch.no_grad():
        made.decoder.output.O.weight.zero_()
    weights = made(SOURCE, TOKENS).weights
    expected = (weights * torch.arange(4)).sum(-1)  # (B, T)
    assert (expected.diff(dim=1)[0] > 1e-3).all()
    assert (expected.diff(dim=1) >= -1e-12).all()


def test_a_symbol_tells_where_it_came_from() -> None:
    """After a symbol that only the second place writes, nothing is on the first."""
    made = make(output="plain")
    decoder = made.decoder
    state, memory = decoder.start(made.encode(SOURCE))
    step = decoder.step(TOKENS[:, 0], state, memory)
    emission = step.state.emission.clone()
    emission[0, :, 4] = torch.tensor([-1e3, -1.0, -1e3, -1e3])
    after = decoder.step(TOKENS[:, 1], step.state._replace(emission=emission), memory)
    assert after.weights[0, 0] == 0
    assert after.weights[0, 1] > 0


def test_gradients_are_finite_on_padded_batches() -> None:
    made = make()
    decoded = made(SOURCE, TOKENS)
    decoded.logits.gather(2, TARGETS[:, :, None]).sum().backward()
    for name, weight in made.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name
        assert (weight.grad != 0).any(), name
