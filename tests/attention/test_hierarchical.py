"""Attention at two levels: words within turns, then turns."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention import NORMALISERS, SCORES, AdditiveScore, Attended, Attention, Encoded, HierarchicalAttention
from tests.tiny import softmax, tensors

T, Q, V, G, A = 5, 7, 11, 3, 13
NAMES = [name for name in SCORES if name not in ("dot", "scaled")]  # [g_u; c_tu] is longer than a query
ROWS = ((3, 1, 2), (2, 0, 4))  # words of each turn; one is empty
PADDING = -1


class Conversation(NamedTuple):
    """What an encoder with levels hands over."""

    values: Tensor
    mask: Tensor
    summary: Tensor
    line: Tensor
    sentences: Encoded


def places(words: tuple[int, ...]) -> list[int]:
    """Which turn each place belongs to; a border after each turn but the last."""
    found = [turn for number, count in enumerate(words) for turn in [number] * count + [PADDING]]
    return found[:-1]


def conversation(rows: tuple[tuple[int, ...], ...] = ROWS, width: int = 0, turns: int = 0) -> Conversation:
    """Numbers that depend on row, turn and word alone; 1000 wherever nobody may read."""
    width, turns = max(width, *(len(places(row)) for row in rows)), max(turns, *map(len, rows))
    line = torch.full((len(rows), width), PADDING)
    values, states = torch.full((len(rows), width, V), 1e3), torch.full((len(rows), turns, G), 1e3)
    for number, row in enumerate(rows):
        line[number, : len(places(row))] = torch.tensor(places(row))
        generator = torch.Generator().manual_seed(number)
        states[number, : len(row)] = torch.randn(len(row), G, generator=generator)
        values[number][line[number] >= 0] = torch.randn(sum(row), V, generator=generator)
    nothing = torch.zeros(len(rows), G).double()
    there = torch.arange(turns) < torch.tensor([len(row) for row in rows])[:, None]
    return Conversation(values.double(), line >= 0, nothing, line, Encoded(states.double(), there, nothing))


def with_states(given: Conversation, states: Tensor) -> Conversation:
    return given._replace(sentences=given.sentences._replace(values=states))


def make(score: str = "additive", normaliser: str = "softmax") -> HierarchicalAttention:
    torch.manual_seed(3)
    words, turns = SCORES[score](Q, V, A), SCORES[score](Q, G + V, A)
    return HierarchicalAttention(words, turns, V, NORMALISERS[normaliser]).double()


def queries(count: int = len(ROWS), steps: int = T) -> Tensor:
    return torch.randn(count, steps, Q, generator=torch.Generator().manual_seed(9)).double()


def attend(attention: HierarchicalAttention, query: Tensor, given: Conversation) -> Attended:
    attended: Attended = attention(query, attention.remember(given))
    return attended


def same(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


every_score = pytest.mark.parametrize("score", NAMES)
every_normaliser = pytest.mark.parametrize("normaliser", NORMALISERS)


def energy(score: AdditiveScore, query: NDArray[np.float64], value: NDArray[np.float64]) -> float:
    W, U, bias, v = (weight.detach().numpy() for weight in score.parameters())
    return float(v[0] @ np.tanh(W @ query + U @ value + bias))


def test_equals_loops_over_its_equations() -> None:
    attention, query, given = make(), queries(), conversation()
    context, weights = attend(attention, query, given)
    q, h, g = query.numpy(), given.values.numpy(), given.sentences.values.numpy()
    word_score, turn_score = attention.words, attention.turns
    assert isinstance(word_score, AdditiveScore)
    assert isinstance(turn_score, AdditiveScore)
    for b, words in enumerate(ROWS):
        for t in range(T):
            alphas, contexts, energies = {}, {}, {}
            for u in (number for number, count in enumerate(words) if count):
                own = [j for j, turn in enumerate(places(words)) if turn == u]
                alphas[u] = dict(
                    zip(own, softmax(np.array([energy(word_score, q[b, t], h[b, j]) for j in own])), strict=True)
                )
                contexts[u] = sum(alpha * h[b, j] for j, alpha in alphas[u].items())
                energies[u] = energy(turn_score, q[b, t], np.concatenate([g[b, u], contexts[u]]))
            betas = dict(zip(energies, softmax(np.array(list(energies.values()))), strict=True))
            expected = np.zeros(weights.size(-1))
            for u, beta in betas.items():
                for j, alpha in alphas[u].items():
                    expected[j] = beta * alpha
            np.testing.assert_allclose(weights[b, t].detach(), expected, atol=1e-12)
            wanted = sum(beta * contexts[u] for u, beta in betas.items())
            np.testing.assert_allclose(context[b, t].detach(), wanted, atol=1e-12)


@every_score
@every_normaliser
def test_weights_sum_to_one_over_words_and_are_zero_on_borders_and_padding(score: str, normaliser: str) -> None:
    given = conversation()
    context, weights = attend(make(score, normaliser), queries(), given)
    assert weights.shape == (len(ROWS), T, given.mask.size(1))
    assert context.shape == (len(ROWS), T, V)
    assert (weights >= 0).all()
    same(weights.sum(-1), torch.ones(len(ROWS), T).double())
    assert (weights.masked_select(~given.mask[:, None]) == 0).all()


@every_score
@every_normaliser
def test_one_turn_is_plain_attention(score: str, normaliser: str) -> None:
    attention, given = make(score, normaliser), conversation(((5,), (3,)))
    plain = Attention(attention.words, V, NORMALISERS[normaliser])
    expected = plain(queries(), plain.remember(Encoded(given.values, given.mask, given.summary)))
    context, weights = attend(attention, queries(), given)
    same(context, expected.context)
    same(weights, expected.weights)


@every_score
def test_more_places_and_more_turns_of_padding_change_nothing(score: str) -> None:
    attention, given = make(score), conversation()
    expected, width = attend(attention, queries(), given), given.mask.size(1)
    context, weights = attend(attention, queries(), conversation(width=width + 4, turns=7))
    same(context, expected.context)
    same(weights[:, :, :width], expected.weights)
    assert (weights[:, :, width:] == 0).all()


@every_score
def test_batch_mates_change_nothing(score: str) -> None:
    attention, query = make(score), queries()
    together = attend(attention, query, conversation())
    alone = attend(attention, query[:1], conversation(ROWS[:1]))
    width = alone.weights.size(-1)
    same(together.context[:1], alone.context)
    same(together.weights[:1, :, :width], alone.weights)


def test_the_order_of_turns_does_not_matter_to_the_context() -> None:
    """Order is the encoder's affair."""
    given, attention = conversation(((2, 3),)), make()
    turned = torch.tensor([3, 4, 5, 2, 0, 1])
    other = given._replace(
        values=given.values[:, turned],
        mask=given.mask[:, turned],
        line=torch.tensor([[0, 0, 0, PADDING, 1, 1]]),
    )
    other = with_states(other, given.sentences.values.flip(1))
    one, two = attend(attention, queries(1), given), attend(attention, queries(1), other)
    same(one.context, two.context)
    same(one.weights[:, :, turned], two.weights)


def test_a_conversation_without_any_word_is_zero_with_finite_gradients() -> None:
    attention, given, query = make(), conversation(((2, 1), (0, 0))), queries().requires_grad_()
    values = given.values.requires_grad_()
    context, weights = attend(attention, query, given)
    assert (weights[1] == 0).all()
    assert (context[1] == 0).all()
    gradients = torch.autograd.grad((context**2).sum(), [query, values, *attention.parameters()])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][1] == 0).all()


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_large_energies_are_safe(size: float) -> None:
    attention = make("bilinear").float()
    for weight in attention.parameters():
        torch.nn.init.constant_(weight, size)
    given = conversation()
    single = with_states(given, given.sentences.values.float())._replace(values=given.values.float())
    context, weights = attend(attention, queries().float(), single)
    assert context.isfinite().all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(ROWS), T))


def test_turns_are_weighed_by_their_states_and_by_their_words() -> None:
    attention, given = make(), conversation(((2, 3),))
    shares = attend(attention, queries(1), given).weights[:, :, :2].sum(-1)
    states = attend(attention, queries(1), with_states(given, -given.sentences.values)).weights[:, :, :2].sum(-1)
    words = given.values.clone()
    words[:, 3:] *= -1
    other = attend(attention, queries(1), given._replace(values=words)).weights[:, :, :2].sum(-1)
    assert (shares - states).abs().max() > 1e-3
    assert (shares - other).abs().max() > 1e-3


@every_score
def test_gradient(score: str) -> None:
    attention, given = make(score), conversation()

    def run(query: Tensor, values: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        return attend(attention, query, with_states(given, states)._replace(values=values))

    inputs = queries(steps=2), given.values.clamp(max=9), given.sentences.values.clamp(max=9)
    assert gradcheck(run, tuple(one.requires_grad_() for one in inputs), fast_mode=True)


@every_score
def test_all_steps_at_once_equal_one_by_one(score: str) -> None:
    attention, query, given = make(score), queries(), conversation()
    context, weights = attend(attention, query, given)
    for t in range(T):
        step = attend(attention, query[:, t : t + 1], given)
        same(step.context[:, 0], context[:, t])
        same(step.weights[:, 0], weights[:, t])


def test_its_memory_is_batch_first() -> None:
    assert {len(tensor) for tensor in tensors(make().remember(conversation()))} == {len(ROWS)}
