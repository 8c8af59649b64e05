"""The pointer sentinel language model, against a loop over words and places."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention import NoContext
from regard.data.batching import pad
from regard.data.vocabulary import BEGIN
from regard.decoders.output import AttentionalOutput
from regard.decoders.recurrent import RecurrentDecoder
from regard.decoders.sentinel import SentinelDecoder
from regard.decoders.start import LearnedStart
from regard.encoders.nothing import Nothing
from regard.losses import Wanted
from tests.tiny import arrays, softmax, unroll

N, E, H, R = 11, 5, 7, 3
TOKENS = torch.tensor([[BEGIN, 4, 5, 4, 5, 4, 9], [BEGIN, 8, 8, 8, 6, 0, 0], [BEGIN, 5, 7, 4, 7, 10, 7]])
NOTHING = Nothing()(pad([[], [], []]))


def make(window: int, **options: Any) -> SentinelDecoder:
    torch.manual_seed(0)
    output = AttentionalOutput(H, 0, E, R, N)
    inner = RecurrentDecoder(N, E, H, NoContext(), output, LearnedStart(1, H, 1, 2), "lstm", **options)
    made = SentinelDecoder(inner, window).double()
    for weight in made.parameters():
        torch.nn.init.normal_(weight)
    return made


@pytest.mark.parametrize("window", [1, 3, 20])
def test_equals_a_loop_over_the_window(window: int) -> None:
    made = make(window)
    found = made(TOKENS, NOTHING)
    readouts = made.decoder.readouts(TOKENS, NOTHING)[0].detach().numpy()
    (W, b), (s,), (V, o) = arrays(made.query), arrays(made.sentinel), arrays(made.decoder.output.O)
    for row in range(3):
        for t in range(TOKENS.size(1)):
            h = readouts[row]
            q = np.tanh(W @ h[t] + b)
            words = [i for i in range(max(0, t - window + 1), t + 1) if TOKENS[row, i] not in (0, BEGIN)]
            *alpha, g = softmax(np.array([q @ h[i] for i in words] + [q @ s[0]]))
            p = g * softmax(V @ h[t] + o)
            for weight, i in zip(alpha, words, strict=True):
                p[TOKENS[row, i]] += weight
            np.testing.assert_allclose(found.logits[row, t].exp().detach(), p, atol=1e-12)
            assert p.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("window", [1, 3, 20])
def test_unrolled_steps_equal_forward(window: int) -> None:
    made = make(window)
    forward, stepwise = made(TOKENS, NOTHING), unroll(made, TOKENS, *made.start(NOTHING))
    torch.testing.assert_close(stepwise.logits, forward.logits, atol=1e-12, rtol=0)
    assert stepwise.weights.shape == forward.weights.shape == (3, TOKENS.size(1), 0)
    torch.testing.assert_close(forward.logits.logsumexp(-1), torch.zeros(TOKENS.shape).double(), atol=1e-12, rtol=0)


@pytest.mark.parametrize("window", [1, 3, 20])
def test_the_loss_is_that_of_the_mixture(window: int) -> None:
    """And, supervised, of what the pointer gives to the wanted symbol or leaves to the vocabulary."""
    made = make(window)
    reads, targets = TOKENS[:, :-1], TOKENS[:, 1:]
    log_p, looked = made(reads, NOTHING).logits, made.look_back(TOKENS, NOTHING).weights
    nll, kept = 0.0, 0.0
    for row, t in (targets != 0).nonzero().tolist():
        nll -= log_p[row, t, targets[row, t]].item()
        found = [looked[row, t, i].item() for i in range(1, t + 1) if reads[row, i] == targets[row, t]]
        kept -= np.log(looked[row, t, 0].item() + sum(found))
    plain = made.loss(reads, NOTHING, Wanted(targets, 0.0), False).loss
    made.supervised = True
    supervised = made.loss(reads, NOTHING, Wanted(targets, 0.0), False).loss
    assert plain.total.item() == plain.nll.item() == supervised.nll.item() == pytest.approx(nll, abs=1e-10)
    assert supervised.total.item() - nll == pytest.approx(kept, abs=1e-10)
    assert int(plain.symbols) == 16
    vocabulary = made.decoder(reads, NOTHING).logits.log_softmax(-1).mean(-1)[targets != 0].sum().item()
    smoothed = made.loss(reads, NOTHING, Wanted(targets, 0.2), False).loss.total.item()
    assert smoothed == pytest.approx(0.8 * nll - 0.2 * vocabulary + kept, abs=1e-10)


def test_gradients_of_the_loss() -> None:
    made = make(3)
    made.supervised = True

    def total(*_: Tensor) -> Tensor:
        return made.loss(TOKENS[:, :-1], NOTHING, Wanted(TOKENS[:, 1:], 0.1), False).loss.total

    assert gradcheck(total, list(made.parameters()))


def test_before_any_word_only_the_vocabulary_speaks() -> None:
    made = make(4)
    plain = made.decoder(TOKENS, NOTHING).logits.log_softmax(-1)
    torch.testing.assert_close(made(TOKENS, NOTHING).logits[:, 0], plain[:, 0], atol=1e-12, rtol=0)


def test_every_weight_learns() -> None:
    made = make(4)
    made(TOKENS[:, :-1], NOTHING).logits.gather(-1, TOKENS[:, 1:, None]).sum().backward()
    assert [name for name, one in made.named_parameters() if one.grad is None or (one.grad == 0).all()] == []
    assert all(bool(one.grad.isfinite().all()) for one in made.parameters() if one.grad is not None)


def test_looking_back_shows_the_mixture() -> None:
    made = make(3)
    looked = made.look_back(TOKENS, NOTHING)
    words = TOKENS.size(1) - 1
    assert looked.weights.shape == (3, words, words)
    torch.testing.assert_close(looked.weights.sum(-1), torch.ones(3, words).double(), atol=1e-12, rtol=0)
    assert (looked.weights.triu(1) == 0).all()
    assert (looked.weights[:, 5, 1:3] == 0).all()  # out of the window of y_3, y_4 and y_5
    assert (looked.weights[0, 5, 3:] > 0).all()
    assert looked.copied is not None
    assert (looked.copied > 0).any()
    p = made(TOKENS[:, :-1], NOTHING).logits.exp()  # (B, T, N)
    for row in range(3):
        for t in range(words):
            symbol, column = TOKENS[row, t + 1], int(looked.copied[row, t])
            mass = sum(looked.weights[row, t, i] for i in range(1, t + 1) if TOKENS[row, i] == symbol)
            assert (column > 0) == bool(mass > p[row, t, symbol] / 2)
            assert column == 0 or TOKENS[row, column] == symbol


def test_answers_without_a_word_have_nothing_to_show() -> None:
    looked = make(3).look_back(TOKENS[:, :1], NOTHING)
    assert looked.weights.shape == (3, 0, 0)
    assert looked.copied is not None
    assert looked.copied.shape == (3, 0)
