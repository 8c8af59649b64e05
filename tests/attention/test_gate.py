"""The gate scales the context and nothing else, around every attention and in every way a decoder asks."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd import gradcheck

from regard.attention import AdditiveScore, Attention, Encoded, FixedContext, GatedAttention, NoContext
from regard.data.vocabulary import BEGIN
from regard.decoders.recurrent import RecurrentDecoder
from regard.fast.switch import plain
from regard.losses import Wanted
from regard.model import EncoderDecoder
from tests.tiny import ATTENTIONS, SIZES, arrays, model, padded, sigmoid, unroll

B, S, T, Q, V, A = 2, 3, 5, 7, 11, 13
MASK = torch.arange(S) < torch.tensor([3, 2])[:, None]
SOURCE = padded([4, 5, 6, 7, 8], [9, 8], [7])
TOKENS = torch.tensor([[BEGIN, 4, 5, 6], [BEGIN, 8, 8, 0], [BEGIN, 5, 7, 4]])

every_query = pytest.mark.parametrize("query", ["previous", "current"])
every_attention = pytest.mark.parametrize("attention", [name for name in ATTENTIONS if name != "monotonic"])


def gated(dtype: torch.dtype = torch.float64, **options: Any) -> EncoderDecoder:
    """A small model with a gate of random weights around its attention."""
    made = model(**options)
    assert isinstance(made.decoder, RecurrentDecoder)
    made.decoder.attention = GatedAttention(made.decoder.attention, SIZES["hidden"]).double()
    nn.init.normal_(made.decoder.attention.f_beta.weight)
    return made.to(dtype)


def test_equals_its_equation() -> None:
    torch.manual_seed(0)
    inner = Attention(AdditiveScore(Q, V, A), V)
    gate = GatedAttention(inner, Q).double()
    query, encoded = torch.randn(B, T, Q).double(), Encoded(torch.randn(B, S, V).double(), MASK, torch.zeros(B, V))
    found, ungated = gate(query, gate.remember(encoded)), inner(query, inner.remember(encoded))
    (w, b), alpha, h = arrays(gate.f_beta), ungated.weights.detach().numpy(), encoded.values.numpy()
    for row, places in enumerate((3, 2)):
        for t in range(T):
            beta = sigmoid(w[0] @ query[row, t].numpy() + b[0])
            expected = beta * sum(alpha[row, t, j] * h[row, j] for j in range(places))
            np.testing.assert_allclose(found.context[row, t].detach(), expected, atol=1e-12)
    assert torch.equal(found.weights, ungated.weights)


def test_gradient() -> None:
    torch.manual_seed(0)
    gate = GatedAttention(Attention(AdditiveScore(Q, V, A), V), Q).double()
    values, query = torch.randn(B, S, V).double().requires_grad_(), torch.randn(B, T, Q).double().requires_grad_()
    assert gradcheck(
        lambda q, v, *_: gate(q, gate.remember(Encoded(v, MASK, v[:, 0]))).context,
        (query, values, *gate.parameters()),
        fast_mode=True,
    )


def test_it_says_what_the_attention_inside_says() -> None:
    assert not GatedAttention(NoContext(), Q).attends
    assert GatedAttention(FixedContext(V), Q).size == V
    assert gated(terms=("coverage",)).decoder.attention.looks_back


@every_attention
@every_query
@torch.no_grad()
def test_steps_equal_forward(attention: str, query: str) -> None:
    """Also where nothing is looked at: what a gate lets through of a fixed context changes from step to step."""
    made = gated(**ATTENTIONS[attention], query=query)
    decoder, encoded = made.decoder, made.encode(SOURCE)
    forward, steps = decoder(TOKENS, encoded), unroll(decoder, TOKENS, *decoder.start(encoded))
    torch.testing.assert_close(steps.logits, forward.logits, atol=1e-10, rtol=0)
    torch.testing.assert_close(steps.weights, forward.weights, atol=1e-10, rtol=0)


@pytest.mark.parametrize("attention", ["additive", "dot", "heads", "coverage", "fixed"])
@every_query
def test_no_fast_path_leaves_the_gate_out(attention: str, query: str) -> None:
    """In single precision, where the fast loops run, the loss and every gradient equal those of the plain path."""
    made = gated(torch.float32, **ATTENTIONS[attention], query=query)
    wanted, found = Wanted(TOKENS.roll(-1, 1), 0.0), []
    for path in (nullcontext(), plain()):
        made.zero_grad()
        with path:
            loss = made(SOURCE, TOKENS, 0.0, wanted).total
            loss.backward()
        found.append([loss.detach(), *(weight.grad for weight in made.parameters() if weight.grad is not None)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
    gate = made.decoder.attention.f_beta
    assert (gate.weight.grad != 0).all()


@every_query
@torch.no_grad()
def test_search_has_no_quick_step_that_forgets_the_gate(query: str) -> None:
    made = gated(torch.float32, query=query)
    _, memory = made.decoder.start(made.encode(SOURCE))
    assert made.decoder.quick(memory) is None


@every_query
@torch.no_grad()
def test_a_closed_gate_is_no_context(query: str) -> None:
    """β = 0: no value of the source reaches the output; β = 1: the attention as it was."""
    made = gated(query=query, start="zero")
    decoder, encoded = made.decoder, made.encode(SOURCE)
    gate = decoder.attention.f_beta
    nn.init.zeros_(gate.weight)
    nn.init.constant_(gate.bias, -1e3)
    other = encoded._replace(values=encoded.values.flip(0))
    torch.testing.assert_close(decoder(TOKENS, encoded).logits, decoder(TOKENS, other).logits, atol=0, rtol=0)
    nn.init.constant_(gate.bias, 1e3)
    opened = decoder(TOKENS, encoded)
    decoder.attention = decoder.attention.attention
    torch.testing.assert_close(opened.logits, decoder(TOKENS, encoded).logits, atol=1e-10, rtol=0)
