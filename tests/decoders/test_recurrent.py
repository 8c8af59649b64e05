"""One step and all steps agree for every kind of decoder, and two of them are worked out in NumPy."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import Encoded
from regard.cells import CELLS
from regard.data.vocabulary import BEGIN
from regard.decoders.output import OUTPUTS
from regard.decoders.step import Decoded
from regard.model import EncoderDecoder
from tests.tiny import ATTENTIONS, N, arrays, model, padded, sigmoid, softmax, tensors, unroll

SOURCE = padded([4, 5, 6, 7, 8], [9, 8], [7])
TOKENS = torch.tensor([[BEGIN, 4, 5, 6], [BEGIN, 8, 8, 0], [BEGIN, 5, 7, 4]])
HIDDEN = list(itertools.product(("previous", "current"), (False, True), CELLS, (1, 2)))
SEEING = [name for name in ATTENTIONS if name not in ("fixed", "none")]

every_attention = pytest.mark.parametrize("attention", ATTENTIONS)


def encode(made: EncoderDecoder) -> Encoded:
    return made.encode(SOURCE)


def stepwise(made: EncoderDecoder, encoded: Encoded, tokens: Tensor = TOKENS) -> Decoded:
    return unroll(made.decoder, tokens, *made.decoder.start(encoded))


def close(one: Decoded, other: Decoded) -> None:
    torch.testing.assert_close(one.logits, other.logits, atol=1e-10, rtol=0)
    torch.testing.assert_close(one.weights, other.weights, atol=1e-10, rtol=0)


@every_attention
@torch.no_grad()
def test_unrolled_steps_equal_forward(attention: str) -> None:
    """For every query × input feeding × cell × number of layers, with outputs, residuals and directions in turn."""
    outputs = itertools.cycle(OUTPUTS)
    for number, (query, feeding, cell, layers) in enumerate(HIDDEN):
        made = model(
            number,
            **ATTENTIONS[attention],
            query=query,
            input_feeding=feeding,
            cell=cell,
            decoder_layers=layers,
            output=next(outputs),
            residual=number % 3 == 0,
            bidirectional=number % 5 > 0,
        )
        forward = made(SOURCE, TOKENS)
        assert forward.logits.shape == (*TOKENS.shape, N)
        assert forward.weights.shape == (*TOKENS.shape, 5)
        close(stepwise(made, encode(made)), forward)


@pytest.mark.parametrize("attention", ["additive", "everything", "monotonic", "none"])
@pytest.mark.parametrize("feeding", [False, True])
def test_variational_masks_last_from_the_first_step_to_the_last(attention: str, feeding: bool) -> None:
    """All masks are drawn at the start; after it there is no more chance, in steps or at once."""
    options = {**ATTENTIONS[attention], "decoder_layers": 2, "input_feeding": feeding, "residual": True}
    made = model(**options, dropout=0.4, variational=True)
    encoded = encode(made)
    still = made.decoder(TOKENS, encoded)
    made.train()
    torch.manual_seed(5)
    noisy = made.decoder(TOKENS, encoded)
    torch.manual_seed(5)
    state, memory = made.decoder.start(encoded)
    torch.manual_seed(6)
    close(unroll(made.decoder, TOKENS, state, memory), noisy)
    assert (noisy.logits - still.logits).abs().max() > 0.1
    made.eval()
    close(made.decoder(TOKENS, encoded), still)


@pytest.mark.parametrize("attention", SEEING)
def test_weights_are_a_distribution_over_real_places(attention: str) -> None:
    made = model(**ATTENTIONS[attention])
    assert made.attends
    weights = made(SOURCE, TOKENS).weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(TOKENS.shape).double(), atol=1e-10, rtol=0)
    assert (weights >= 0).all()
    assert (weights.masked_select(~SOURCE.mask[:, None]) == 0).all()


@pytest.mark.parametrize("attention", SEEING)
def test_one_changed_source_symbol_moves_the_weights(attention: str) -> None:
    made = model(**ATTENTIONS[attention], output="deep")
    before, after = made(SOURCE, TOKENS), made(padded([4, 5, 9, 7, 8], [9, 8], [7]), TOKENS)
    assert (before.weights[0] - after.weights[0]).abs().max() > 1e-3
    assert (before.logits[0] - after.logits[0]).abs().max() > 1e-3
    assert torch.equal(before.logits[1:], after.logits[1:])


@pytest.mark.parametrize("attention", ["location", "coverage"])
def test_past_weights_reach_the_next_step(attention: str) -> None:
    """The same state with another past looks elsewhere: coverage is in the score, not only in a loss."""
    decoder = (made := model(**ATTENTIONS[attention])).decoder
    state, memory = decoder.start(encode(made))
    fresh = decoder.step(TOKENS[:, 0], state, memory)
    looked = decoder.step(TOKENS[:, 0], state._replace(trace=fresh.state.trace), memory)
    assert (looked.weights[0] - fresh.weights[0]).abs().max() > 1e-3
    assert torch.equal(fresh.state.trace.previous, fresh.weights)
    second = decoder.step(TOKENS[:, 1], fresh.state, memory)
    torch.testing.assert_close(second.state.trace.total, fresh.weights + second.weights, atol=1e-12, rtol=0)
    assert second.state.trace.step.tolist() == [2, 2, 2]


@every_attention
def test_nothing_given_is_changed(attention: str) -> None:
    made = model(**ATTENTIONS[attention], input_feeding=True)
    encoded = encode(made)
    kept = [part.clone() for part in tensors(encoded)]
    made.decoder(TOKENS, encoded)
    assert all(torch.equal(part, before) for part, before in zip(tensors(encoded), kept, strict=True))


@every_attention
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_weight_learns(attention: str, output: str) -> None:
    options = {"output": output, "input_feeding": True, "decoder_layers": 2}
    made = model(std=0.5, **ATTENTIONS[attention], **options)  # gentle: a sparse weight of 1 has no gradient
    made(SOURCE, TOKENS).logits.log_softmax(-1)[:, :, 4].sum().backward()
    silent = [name for name, weight in made.named_parameters() if weight.grad is None or (weight.grad == 0).all()]
    assert silent == []


# -- by hand ---------------------------------------------------------------------------------------------------


def test_bahdanau_by_hand() -> None:
    """GRU, additive score on s_{t-1}, context into the cell, maxout output, s_0 = tanh(W h_S)."""
    made = model(cell="gru", score="additive", query="previous", output="maxout", start="last", compare=11, readout=7)
    decoder, encoded = made.decoder, encode(made)
    found = decoder(TOKENS, encoded)
    (W_0, b_0), (E,) = arrays(decoder.first), arrays(decoder.words)
    W, b, U, d = arrays(decoder.cells[0])
    (C,) = arrays(decoder.context_drive)
    W_q, U_h, b_h, v = arrays(decoder.attention.score)
    (out, o), (M, m) = arrays(decoder.output.O), arrays(decoder.output.parts)
    for row, length in enumerate(SOURCE.lengths.tolist()):
        h = encoded.values[row, :length].detach().numpy()
        s = np.tanh(W_0 @ encoded.summary[row].detach().numpy() + b_0)
        for t, token in enumerate(TOKENS[row].tolist()):
            energy = np.array([v[0] @ np.tanh(W_q @ s + U_h @ h[j] + b_h) for j in range(length)])
            alpha = softmax(energy)
            c = sum(alpha[j] * h[j] for j in range(length))
            (x_r, x_z, x_n), (u_r, u_z, u_n) = np.split(W @ E[token] + b + C @ c, 3), np.split(U @ s + d, 3)
            r, z = sigmoid(x_r + u_r), sigmoid(x_z + u_z)
            s = (1 - z) * np.tanh(x_n + r * u_n) + z * s
            pairs = M @ np.concatenate([s, E[token], c]) + m
            logits = out @ np.array([max(pairs[2 * i], pairs[2 * i + 1]) for i in range(7)]) + o
            np.testing.assert_allclose(found.weights[row, t, :length].detach(), alpha, atol=1e-12)
            np.testing.assert_allclose(found.logits[row, t].detach(), logits, atol=1e-12)


def test_luong_by_hand() -> None:
    """LSTM fed with the last h̃, general score on s_t, attentional output, s_0 = 0."""
    made = model(
        cell="lstm",
        score="bilinear",
        query="current",
        output="attentional",
        input_feeding=True,
        start="zero",
        readout=7,
    )
    decoder, encoded = made.decoder, encode(made)
    found = decoder(TOKENS, encoded)
    (E,) = arrays(decoder.words)
    W, b, U, d = arrays(decoder.cells[0])
    (F,) = arrays(decoder.feed_drive)
    (G,) = arrays(decoder.attention.score)
    (out, o), (W_c, b_c) = arrays(decoder.output.O), arrays(decoder.output.W_c)
    for row, length in enumerate(SOURCE.lengths.tolist()):
        h = encoded.values[row, :length].detach().numpy()
        s, carry, fed = np.zeros(6), np.zeros(6), np.zeros(7)
        for t, token in enumerate(TOKENS[row].tolist()):
            i, f, g, e = np.split(W @ E[token] + b + F @ fed + U @ s + d, 4)
            carry = sigmoid(f) * carry + sigmoid(i) * np.tanh(g)
            s = sigmoid(e) * np.tanh(carry)
            alpha = softmax(np.array([s @ G @ h[j] for j in range(length)]))
            c = sum(alpha[j] * h[j] for j in range(length))
            fed = np.tanh(W_c @ np.concatenate([c, s]) + b_c)
            np.testing.assert_allclose(found.weights[row, t, :length].detach(), alpha, atol=1e-12)
            np.testing.assert_allclose(found.logits[row, t].detach(), out @ fed + o, atol=1e-12)


def test_residual_layers_by_hand() -> None:
    """The sum of the layers is what is asked with and read out; each recurrence keeps its own state."""
    made = model(
        cell="tanh", decoder_layers=3, residual=True, score="dot", query="current", output="plain", start="zero"
    )
    decoder, encoded = made.decoder, encode(made)
    found = decoder(TOKENS, encoded)
    (E,), (out, o) = arrays(decoder.words), arrays(decoder.output)
    cells = [tuple(arrays(cell)) for cell in decoder.cells]
    for row, length in enumerate(SOURCE.lengths.tolist()):
        h = encoded.values[row, :length].detach().numpy()
        states = [np.zeros(6)] * 3
        for t, token in enumerate(TOKENS[row].tolist()):
            below = E[token]
            for layer, (W, b, U, d) in enumerate(cells):
                states[layer] = np.tanh(W @ below + b + U @ states[layer] + d)
                below = states[layer] + (below if layer > 0 else 0)
            alpha = softmax(h @ below)
            logits = out @ np.concatenate([below, alpha @ h, E[token]]) + o
            np.testing.assert_allclose(found.weights[row, t, :length].detach(), alpha, atol=1e-12)
            np.testing.assert_allclose(found.logits[row, t].detach(), logits, atol=1e-12)


# -- without attention -----------------------------------------------------------------------------------------


def logits_with(made: EncoderDecoder, **changes: Any) -> Tensor:
    return made.decoder(TOKENS, encode(made)._replace(**changes)).logits


def noise_like(tensor: Tensor) -> Tensor:
    return torch.randn(tensor.shape, generator=torch.Generator().manual_seed(9), dtype=tensor.dtype)


@pytest.mark.parametrize("query", ["previous", "current"])
def test_without_context_the_source_reaches_the_first_state_only(query: str) -> None:
    made = model(attention="none", query=query, start="last")
    encoded, decoder = encode(made), made.decoder
    assert not made.attends
    assert (decoder(TOKENS, encoded).weights == 0).all()
    assert torch.equal(logits_with(made, values=noise_like(encoded.values)), decoder(TOKENS, encoded).logits)
    other = encoded._replace(summary=noise_like(encoded.summary))
    (mine, memory), (theirs, foreign) = decoder.start(encoded), decoder.start(other)
    own = unroll(decoder, TOKENS, mine, memory).logits
    assert torch.equal(unroll(decoder, TOKENS, mine, foreign).logits, own)
    assert (unroll(decoder, TOKENS, theirs, memory).logits - own).abs().max() > 1e-3


@pytest.mark.parametrize("query", ["previous", "current"])
def test_a_fixed_context_is_there_at_every_step(query: str) -> None:
    made = model(attention="fixed", query=query, start="zero")
    encoded, decoder = encode(made), made.decoder
    assert not made.attends
    assert (decoder(TOKENS, encoded).weights == 0).all()
    assert torch.equal(logits_with(made, values=noise_like(encoded.values)), decoder(TOKENS, encoded).logits)
    state, memory = decoder.start(encoded)
    _, foreign = decoder.start(encoded._replace(summary=noise_like(encoded.summary)))
    for token in TOKENS.unbind(1):
        step = decoder.step(token, state, memory)
        assert ((decoder.step(token, state, foreign).logits - step.logits).abs().amax(-1) > 1e-3).all()
        state = step.state


# -- the language model ----------------------------------------------------------------------------------------


def language_model(**options: Any) -> EncoderDecoder:
    return model(**{"attention": "none", "start": "learned", "output": "plain", "cell": "tanh", **options})


@pytest.mark.parametrize("query", ["previous", "current"])
@pytest.mark.parametrize("cell", CELLS)
def test_a_language_model_does_not_see_the_source(query: str, cell: str) -> None:
    made = language_model(query=query, cell=cell, decoder_layers=2)
    tokens = TOKENS[:1].expand(3, -1)
    logits = made(SOURCE, tokens).logits
    assert (logits - logits[:1]).abs().max() < 1e-12
    logits.square().sum().backward()
    assert all(weight.grad is None or (weight.grad == 0).all() for weight in made.encoder.parameters())


def test_a_language_model_by_hand() -> None:
    """s_t = tanh(W E(y_{t-1}) + U s_{t-1} + b), p(y_t) = softmax(V s_t + c); the plain output also sees E(y_{t-1})."""
    made = language_model()
    decoder = made.decoder
    found = made(SOURCE, TOKENS).logits.log_softmax(-1).detach().numpy()
    (first,), (E,) = arrays(decoder.first), arrays(decoder.words)
    W, b, U, d = arrays(decoder.cells[0])
    out, c = arrays(decoder.output)
    V, skip = out[:, :6], out[:, 6:]
    for row in range(3):
        s = first
        for t, token in enumerate(TOKENS[row].tolist()):
            s = np.tanh(W @ E[token] + b + U @ s + d)
            np.testing.assert_allclose(np.exp(found[row, t]), softmax(V @ s + skip @ E[token] + c), atol=1e-12)


def test_the_recurrent_language_model_of_the_notes_by_hand() -> None:
    """p(y_t) = softmax(V s_t + c), the state alone."""
    made = language_model(output="state")
    decoder = made.decoder
    found = made(SOURCE, TOKENS).logits.log_softmax(-1).detach().numpy()
    (first,), (E,) = arrays(decoder.first), arrays(decoder.words)
    W, b, U, d = arrays(decoder.cells[0])
    V, c = arrays(decoder.output)
    for row in range(3):
        s = first
        for t, token in enumerate(TOKENS[row].tolist()):
            s = np.tanh(W @ E[token] + b + U @ s + d)
            np.testing.assert_allclose(np.exp(found[row, t]), softmax(V @ s + c), atol=1e-12)
