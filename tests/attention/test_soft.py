"""The laws of attention, for every score × normaliser and for all that is built from them."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck

from regard.attention import (
    NORMALISERS,
    SCORES,
    TERMS,
    AdditiveScore,
    Attended,
    Attention,
    DotScore,
    Encoded,
    FixedContext,
    GatedAttention,
    LocalWindow,
    Mechanism,
    MultiHead,
    NoContext,
    Trace,
)
from regard.errors import UsageError
from tests.tiny import tensors

B, S, T, V, A = 2, 7, 5, 11, 13
Q = V  # for the dot scores; test_score.py has them apart
MASK = torch.arange(S) < torch.tensor([7, 4])[:, None]


def plain(score: str, normaliser: str) -> Callable[[], Mechanism]:
    return lambda: Attention(SCORES[score](Q, V, A), V, NORMALISERS[normaliser])


def looking_back(term: str) -> Callable[[], Mechanism]:
    return lambda: Attention(AdditiveScore(Q, V, A), V, terms=[TERMS[term](A, 3)])


def two_heads() -> Mechanism:
    return MultiHead([Attention(SCORES[name](Q, 3, A), 3) for name in ("additive", "bilinear")], V)


SOFT = {f"{score}-{name}": plain(score, name) for score in SCORES for name in NORMALISERS}
ORDERED: dict[str, Callable[[], Mechanism]] = {  # the order of the places matters to these
    "location": looking_back("location"),
    "coverage": looking_back("coverage"),
    "position": looking_back("position"),
    "markov": looking_back("markov"),
    "fertility": looking_back("fertility"),
    "window": lambda: Attention(AdditiveScore(Q, V, A), V, window=LocalWindow(Q, A, 2)),
}
ATTENTIONS = {**SOFT, **ORDERED, "heads": two_heads, "gated": lambda: GatedAttention(two_heads(), Q)}
WITHOUT: dict[str, Callable[[], Mechanism]] = {"none": NoContext, "fixed": lambda: FixedContext(V)}

every = pytest.mark.parametrize("name", ATTENTIONS)


def make(name: str) -> Mechanism:
    torch.manual_seed(0)
    mechanism = {**ATTENTIONS, **WITHOUT}[name]()
    assert isinstance(mechanism, nn.Module)
    mechanism.double()
    return mechanism


def example(mask: Tensor = MASK) -> tuple[Tensor, Encoded]:
    torch.manual_seed(1)
    places = mask.size(1)
    values, summary = torch.randn(len(mask), places, V).double(), torch.randn(len(mask), V).double()
    return torch.randn(len(mask), T, Q).double(), Encoded(values, mask, summary)


def attend(mechanism: Mechanism, query: Tensor, encoded: Encoded) -> Attended:
    return unroll(mechanism, query, mechanism.remember(encoded), encoded.mask)


def unroll(mechanism: Mechanism, query: Tensor, memory: Any, mask: Tensor) -> Attended:
    """All steps at once, or one by one where the past matters."""
    if not mechanism.looks_back:
        return mechanism(query, memory)
    trace, steps = Trace.begin(mask, query.dtype), []
    for t in range(query.size(1)):
        steps.append(mechanism(query[:, t : t + 1], memory, trace))
        trace = trace.after(steps[-1].weights[:, 0])
    return Attended(torch.cat([s.context for s in steps], 1), torch.cat([s.weights for s in steps], 1))


def same(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


@every
def test_weights_sum_to_one_on_real_places_and_are_zero_elsewhere(name: str) -> None:
    weights = attend(make(name), *example()).weights
    assert weights.shape == (B, T, S)
    assert (weights >= 0).all()
    same(weights.sum(-1), torch.ones(B, T).double())
    assert (weights.masked_select(~MASK[:, None]) == 0).all()


@pytest.mark.parametrize("name", [*SOFT, *ORDERED])
def test_context_is_the_weighted_sum_of_the_values(name: str) -> None:
    query, encoded = example()
    context, weights = attend(make(name), query, encoded)
    assert context.shape == (B, T, V)
    for b in range(B):
        for t in range(T):
            expected = sum((weights[b, t, j] * encoded.values[b, j] for j in range(S)), torch.zeros(V).double())
            same(context[b, t], expected)


@every
def test_other_padding_changes_nothing(name: str) -> None:
    mechanism, (query, encoded) = make(name), example()
    expected = attend(mechanism, query, encoded)
    noise = torch.full((B, S + 4, V), 1e3).double()
    noise[:, :S][MASK] = encoded.values[MASK]
    mask = torch.cat([MASK, torch.zeros(B, 4, dtype=torch.bool)], 1)
    context, weights = attend(mechanism, query, Encoded(noise, mask, encoded.summary))
    same(context, expected.context)
    same(weights[:, :, :S], expected.weights)


@every
def test_batch_mates_change_nothing(name: str) -> None:
    mechanism, (query, encoded) = make(name), example()
    together = attend(mechanism, query, encoded)
    for b, length in enumerate([7, 4]):
        row = Encoded(encoded.values[b : b + 1, :length], MASK[b : b + 1, :length], encoded.summary[b : b + 1])
        alone = attend(mechanism, query[b : b + 1], row)
        same(together.context[b], alone.context[0])
        same(together.weights[b, :, :length], alone.weights[0])


@pytest.mark.parametrize("name", [*SOFT, "heads"])
def test_permuting_the_memory_permutes_the_weights(name: str) -> None:
    mechanism, (query, encoded) = make(name), example()
    order = torch.tensor([3, 6, 0, 5, 1, 4, 2])
    context, weights = attend(mechanism, query, encoded)
    moved = attend(mechanism, query, Encoded(encoded.values[:, order], MASK[:, order], encoded.summary))
    same(moved.context, context)
    same(moved.weights, weights[:, :, order])


@every
def test_a_row_with_nothing_to_read_is_zero_with_finite_gradients(name: str) -> None:
    mechanism = make(name)
    query, encoded = example(torch.tensor([[True, True, False], [False, False, False]]))
    encoded.values.requires_grad_()
    query.requires_grad_()
    context, weights = attend(mechanism, query, encoded)
    assert (weights[1] == 0).all()
    assert (context[1] == 0).all()
    assert isinstance(mechanism, nn.Module)
    leaves = [query, encoded.values, *mechanism.parameters()]
    gradients = torch.autograd.grad((context**2).sum(), leaves, allow_unused=True)
    assert all(gradient.isfinite().all() for gradient in gradients if gradient is not None)
    assert gradients[0] is not None
    assert gradients[1] is not None
    assert (gradients[0][1] == 0).all()
    assert (gradients[1][1] == 0).all()


@every
def test_no_gradient_reaches_padding(name: str) -> None:
    query, encoded = example()
    encoded.values.requires_grad_()
    context, weights = attend(make(name), query, encoded)
    loss = (context * torch.randn_like(context)).sum() + (weights * torch.randn_like(weights)).sum()
    (gradient,) = torch.autograd.grad(loss, encoded.values)
    assert (gradient[~MASK] == 0).all()
    assert (gradient[MASK].abs().sum(-1) > 0).any()


@every
def test_gradient(name: str) -> None:
    mechanism, (query, encoded) = make(name), example()

    def run(query: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return attend(mechanism, query, encoded._replace(values=values))

    inputs = query[:, :2].clone().requires_grad_(), encoded.values.requires_grad_()
    assert gradcheck(run, inputs, fast_mode=True)


@every
def test_inputs_are_left_alone_and_a_second_call_gives_the_same(name: str) -> None:
    mechanism, (query, encoded) = make(name), example()
    memory = mechanism.remember(encoded)
    given = tensors((query, encoded, memory))
    before = [tensor.clone() for tensor in given]
    first, second = (unroll(mechanism, query, memory, MASK) for _ in range(2))
    for tensor, kept in zip(given, before, strict=True):
        assert torch.equal(tensor, kept)
    assert torch.equal(first.weights, second.weights)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_changing_one_place_moves_the_weights(name: str) -> None:
    mechanism, (query, encoded) = make(name), example()
    values = encoded.values.clone()
    values[:, 2] *= -1
    one, other = attend(mechanism, query, encoded), attend(mechanism, query, encoded._replace(values=values))
    assert (one.weights - other.weights).abs().max() > 1e-3


@pytest.mark.parametrize("name", [*SOFT, "window", "heads"])
def test_all_steps_at_once_equal_one_by_one(name: str) -> None:
    mechanism, (query, encoded) = make(name), example()
    context, weights = attend(mechanism, query, encoded)
    for t in range(T):
        step = attend(mechanism, query[:, t : t + 1], encoded)
        same(step.context[:, 0], context[:, t])
        same(step.weights[:, 0], weights[:, t])


def test_by_hand() -> None:
    attention = Attention(DotScore(2, 2, A), 2)
    values = torch.tensor([[[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]]])
    encoded = Encoded(values, torch.tensor([[True, True, False]]), values[:, 0])
    query = torch.tensor([[[2.0, 5.0]]]).log()  # energies 0 and log 2
    context, weights = attention(query, attention.remember(encoded))
    torch.testing.assert_close(weights, torch.tensor([[[1 / 3, 2 / 3, 0.0]]]))
    torch.testing.assert_close(context, torch.tensor([[[2 / 3, 0.0]]]))


def test_what_a_mechanism_says_about_itself() -> None:
    says = {name: (m.size, m.attends, m.looks_back) for name in [*ORDERED, *WITHOUT, "heads"] for m in [make(name)]}
    assert says == {
        "location": (V, True, True),
        "coverage": (V, True, True),
        **dict.fromkeys(("position", "markov", "fertility"), (V, True, True)),
        "window": (V, True, False),
        "none": (0, False, False),
        "fixed": (V, False, False),
        "heads": (V, True, False),
    }


def test_without_attention_there_are_no_weights() -> None:
    query, encoded = example()
    nothing, fixed = attend(make("none"), query, encoded), attend(make("fixed"), query, encoded)
    assert nothing.context.shape == (B, T, 0)
    assert fixed.context.shape == (B, T, V)
    for t in range(T):
        assert torch.equal(fixed.context[:, t], encoded.summary)
    for attended in (nothing, fixed):
        assert attended.weights.shape == (B, T, S)
        assert (attended.weights == 0).all()


@pytest.mark.parametrize(("steps", "with_trace"), [(1, False), (2, True), (2, False)])
def test_looking_back_needs_a_trace_and_single_steps(steps: int, with_trace: bool) -> None:
    mechanism, (query, encoded) = make("coverage"), example()
    trace = Trace.begin(MASK, query.dtype) if with_trace else None
    with pytest.raises(UsageError, match="once per step"):
        mechanism(query[:, :steps], mechanism.remember(encoded), trace)


def test_bfloat16_goes_all_the_way() -> None:
    query, encoded = example()
    half = Encoded(encoded.values.bfloat16(), MASK, encoded.summary.bfloat16())
    for normalise in NORMALISERS.values():
        attention = Attention(AdditiveScore(Q, V, A), V, normalise, window=LocalWindow(Q, A, 3)).bfloat16()
        context, weights = attention(query.bfloat16(), attention.remember(half))
        assert context.dtype == weights.dtype == torch.bfloat16
        torch.testing.assert_close(weights.float().sum(-1), torch.ones(B, T), atol=2e-2, rtol=0)
