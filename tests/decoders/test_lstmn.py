"""LSTMN decoders: one step and all steps agree, and both fusions are worked out in NumPy."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from regard.data.vocabulary import BEGIN
from regard.decoders.lstmn import LSTMNDecoder
from regard.errors import UsageError
from regard.model import EncoderDecoder
from tests.tiny import N, arrays, model, padded, sigmoid, softmax, unroll

SOURCE = padded([4, 5, 6, 7, 8], [9, 8], [7])
TOKENS = torch.tensor([[BEGIN, 4, 5, 6], [BEGIN, 8, 8, 0], [BEGIN, 5, 7, 4]])
Array = NDArray[np.float64]

KINDS: dict[str, dict[str, Any]] = {
    "shallow": {},
    "current": {"query": "current", "output": "deep", "start": "mean"},
    "layers": {"decoder_layers": 2, "encoder_layers": 2, "bidirectional": False, "score": "bilinear"},
    "coverage": {"terms": ("coverage",), "heads": 2},
    "fixed": {"attention": "fixed"},
    "none": {"attention": "none", "start": "learned", "output": "state"},
    "deep": {"fusion": "deep"},
    "deep-layers": {"fusion": "deep", "decoder_layers": 2, "encoder_layers": 2, "bidirectional": False},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def make(kind: str, **options: Any) -> EncoderDecoder:
    made = model(**{"cell": "lstmn", **KINDS[kind], **options})
    assert isinstance(made.decoder, LSTMNDecoder)
    return made


@every_kind
def test_unrolled_steps_equal_forward(kind: str) -> None:
    made = make(kind)
    forward, encoded = made(SOURCE, TOKENS), made.encode(SOURCE)
    stepwise = unroll(made.decoder, TOKENS, *made.decoder.start(encoded))
    assert forward.logits.shape == (*TOKENS.shape, N)
    torch.testing.assert_close(stepwise.logits, forward.logits, atol=1e-12, rtol=0)
    torch.testing.assert_close(stepwise.weights, forward.weights, atol=1e-12, rtol=0)
    sums = torch.ones(TOKENS.shape).double() * made.attends
    torch.testing.assert_close(forward.weights.sum(-1), sums, atol=1e-12, rtol=0)
    assert (forward.weights.masked_select(~SOURCE.mask[:, None]) == 0).all()


@every_kind
def test_every_weight_learns(kind: str) -> None:
    made = make(kind)
    for weight in made.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    made(SOURCE, TOKENS).logits.log_softmax(-1)[:, :, 4].sum().backward()
    silent = [name for name, weight in made.named_parameters() if weight.grad is None or (weight.grad == 0).all()]
    unread = [name for name in silent if not (kind == "none" and name.startswith("encoder"))]
    assert unread == []


@pytest.mark.parametrize("kind", ["shallow", "layers", "deep-layers"])
def test_variational_masks_last_from_the_first_step_to_the_last(kind: str) -> None:
    made = make(kind, dropout=0.4, variational=True)
    encoded = made.encode(SOURCE)
    still = made.decoder(TOKENS, encoded)
    made.train()
    torch.manual_seed(5)
    noisy = made.decoder(TOKENS, encoded)
    torch.manual_seed(5)
    state, memory = made.decoder.start(encoded)
    torch.manual_seed(6)
    torch.testing.assert_close(unroll(made.decoder, TOKENS, state, memory).logits, noisy.logits, atol=1e-12, rtol=0)
    assert (noisy.logits - still.logits).abs().max() > 0.1


@every_kind
def test_looking_back_is_a_distribution_over_earlier_words(kind: str) -> None:
    made = make(kind)
    weights = made.decoder.look_back(TOKENS, made.encode(SOURCE)).weights
    words = TOKENS.size(1) - 1
    assert weights.shape == (3, words, words)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, words).double(), atol=1e-12, rtol=0)
    assert (weights.triu(1) == 0).all()  # row t: what was before the first word, then y_1 … y_{t-1}
    assert (weights[:, 2, :] > 0).all()


# -- by hand ---------------------------------------------------------------------------------------------------


class Hand:
    """An LSTMN cell as a loop, with its tape."""

    def __init__(self, cell: Any, state: Array, carry: Array):
        self.attention, self.lstm = tuple(arrays(cell.attention)), tuple(arrays(cell.cell))
        self.tape, self.last = [(state, carry)], np.zeros_like(state)

    def step(self, gates: Array, asked: Array, fused: Array | float = 0.0) -> tuple[Array, Array]:
        """(h_t, s_t) from what x_t gives to the gates and to the query."""
        (W_h, b_h, _, W_last, v), (_, b, U, d) = self.attention, self.lstm
        energies = [v[0] @ np.tanh(W_h @ h + b_h + asked + W_last @ self.last) for h, _ in self.tape]
        weights = softmax(np.array(energies))
        self.last = sum(w * h for w, (h, _) in zip(weights, self.tape, strict=True))
        carry = sum(w * c for w, (_, c) in zip(weights, self.tape, strict=True))
        i, f, g, o = np.split(gates + b + U @ self.last + d, 4)
        c = fused + sigmoid(f) * carry + sigmoid(i) * np.tanh(g)
        self.tape.append((sigmoid(o) * np.tanh(c), c))
        return self.tape[-1][0], weights


def test_shallow_fusion_by_hand() -> None:
    """The context joins what the cell reads, so it enters the gates and the query to the tape."""
    made = make("shallow", output="plain", start="last", score="additive")
    decoder, encoded = made.decoder, made.encode(SOURCE)
    found, looked = decoder(TOKENS, encoded), decoder.look_back(TOKENS, encoded).weights
    (W_0, b_0), (E,), (C,) = arrays(decoder.first), arrays(decoder.words), arrays(decoder.context_drive)
    W_q, U_h, b_h, v = arrays(decoder.attention.score)
    out, o = arrays(decoder.output.O)
    W, W_x = decoder.cells[0].cell.W.weight.detach().numpy(), decoder.cells[0].attention.W_x.weight.detach().numpy()
    for row, length in enumerate(SOURCE.lengths.tolist()):
        values = encoded.values[row, :length].detach().numpy()
        s, carry = np.split(np.tanh(W_0 @ encoded.summary[row].detach().numpy() + b_0), 2)
        hand = Hand(decoder.cells[0], s, carry)
        for t, token in enumerate(TOKENS[row].tolist()):
            alpha = softmax(np.array([v[0] @ np.tanh(W_q @ s + U_h @ h + b_h) for h in values]))
            c = alpha @ values
            s, weights = hand.step(W @ E[token] + C[:24] @ c, W_x @ E[token] + C[24:] @ c)
            np.testing.assert_allclose(found.weights[row, t, :length].detach(), alpha, atol=1e-12)
            np.testing.assert_allclose(
                found.logits[row, t].detach(), out @ np.concatenate([s, c, E[token]]) + o, atol=1e-12
            )
            if t > 0:
                earlier = [weights[0] + weights[1], *weights[2:]]
                np.testing.assert_allclose(looked[row, t - 1, :t].detach(), earlier, atol=1e-12)


def test_deep_fusion_by_hand() -> None:
    made = make("deep", output="state", start="zero")
    decoder, encoded = made.decoder, made.encode(SOURCE)
    found = decoder(TOKENS, encoded)
    (E,), (out, o) = arrays(decoder.words), arrays(decoder.output.O)
    W_g, b_g, W_x, W_last, u = arrays(decoder.source)
    (R_x, r), (R_g,) = arrays(decoder.gate), arrays(decoder.gate_source)
    W, W_own = decoder.cells[0].cell.W.weight.detach().numpy(), decoder.cells[0].attention.W_x.weight.detach().numpy()
    for row, length in enumerate(SOURCE.lengths.tolist()):
        gammas, alphas = np.split(encoded.values[row, :length].detach().numpy(), 2, -1)
        hand, read = Hand(decoder.cells[0], np.zeros(6), np.zeros(6)), np.zeros(6)
        for t, token in enumerate(TOKENS[row].tolist()):
            x = E[token]
            p = softmax(np.array([u[0] @ np.tanh(W_g @ one + b_g + W_x @ x + W_last @ read) for one in gammas]))
            read, carried = p @ gammas, p @ alphas
            fused = sigmoid(R_g @ read + R_x @ x + r) * carried
            s, _ = hand.step(W @ x, W_own @ x, fused)
            np.testing.assert_allclose(found.weights[row, t, :length].detach(), p, atol=1e-12)
            np.testing.assert_allclose(found.logits[row, t].detach(), out @ s + o, atol=1e-12)


def test_the_tape_is_more_than_the_last_state() -> None:
    """Change what was read first: the cell sees it directly, so hide all but the first entry and it still counts."""
    made = make("none")
    encoded = made.encode(SOURCE)
    state, memory = made.decoder.start(encoded)
    for token in TOKENS.unbind(1)[:3]:
        state = made.decoder.step(token, state, memory).state
    (taped,) = state.layers
    entries = taped.tape.entries.clone()
    entries[:, 1] += 1
    other = state._replace(layers=(taped._replace(tape=taped.tape._replace(entries=entries)),))
    steps = [made.decoder.step(TOKENS[:, 3], one, memory).logits for one in (state, other)]
    assert ((steps[0] - steps[1]).abs().amax(-1) > 1e-3).all()


def test_deep_fusion_needs_an_even_size() -> None:
    with pytest.raises(UsageError, match=r"make model.hidden even"):
        make("deep", hidden=7)
