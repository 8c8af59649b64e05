"""The dynamic pointer against plain loops over its equations, and the spans that are read from its last round."""

import itertools

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import gradcheck

from regard.decoders.reader import NOWHERE, span_loss, word_loss
from regard.decoders.span import DynamicPointer, HighwayMaxout, PlainPointer, Rounds, best_spans, masked_log_softmax
from tests.tiny import arrays, sigmoid, softmax

Array = NDArray[np.float64]
B, M, U, H, R, P = 3, 7, 5, 11, 3, 2
LENGTHS = [7, 3, 1]
MASK = torch.arange(M) < torch.tensor(LENGTHS)[:, None]


def values(seed: int = 0) -> Tensor:
    """Not zero on padding."""
    return torch.randn(B, M, U, generator=torch.Generator().manual_seed(seed)).double()


def random(module: torch.nn.Module, seed: int = 0) -> None:
    torch.manual_seed(seed)
    for weight in module.double().parameters():
        torch.nn.init.normal_(weight)


def one_score(made: HighwayMaxout, u: Array, h: Array, u_s: Array, u_e: Array) -> float:
    """The equations for one place, with W¹ = [W_u W_r] and max over the P rows that belong to one number."""
    W_D, W_u, b_1, W_r, W_2, b_2, W_3, b_3 = arrays(made)
    r = np.tanh(W_D @ np.concatenate([h, u_s, u_e]))
    linear = np.concatenate([W_u, W_r], 1) @ np.concatenate([u, r]) + b_1
    first = np.array([max(linear[piece * R + i] for piece in range(P)) for i in range(R)])
    linear = W_2 @ first + b_2
    second = np.array([max(linear[piece * R + i] for piece in range(P)) for i in range(R)])
    return float(max(W_3 @ np.concatenate([first, second]) + b_3))


def test_highway_maxout_equals_a_loop() -> None:
    made = HighwayMaxout(U, H, R, P)
    random(made)
    u, h, u_s, u_e = values(), torch.randn(B, H).double(), torch.randn(B, U).double(), torch.randn(B, U).double()
    scores = made(made.keys(u), h, u_s, u_e)
    assert scores.shape == (B, M)
    for b, t in np.ndindex(B, M):
        expected = one_score(made, u[b, t].numpy(), h[b].numpy(), u_s[b].numpy(), u_e[b].numpy())
        assert scores[b, t].item() == pytest.approx(expected, abs=1e-10)


def test_highway_maxout_gradient() -> None:
    made = HighwayMaxout(U, H, R, P)
    random(made)
    inputs = values().requires_grad_(), *(torch.randn(B, n, dtype=torch.float64, requires_grad=True) for n in (H, U, U))
    assert gradcheck(lambda u, h, s, e, *_: made(made.keys(u), h, s, e), (*inputs, *made.parameters()), fast_mode=True)
    gradients = torch.autograd.grad(made(made.keys(inputs[0]), *inputs[1:]).sum(), list(made.parameters()))
    assert all(one.abs().max() > 0 for one in gradients)


def pointer(rounds: int = 4, seed: int = 0) -> DynamicPointer:
    made = DynamicPointer(U, H, R, P, rounds)
    random(made, seed)
    return made


def loop(made: DynamicPointer, u: Array) -> list[tuple[Array, Array]]:
    """p(start) and p(end) of each round of one row, until it stops."""
    W, b, S, c = arrays(made.cell)
    h, carry, s, e = np.zeros(H), np.zeros(H), 0, len(u) - 1
    said: list[tuple[Array, Array]] = []
    while len(said) < made.rounds:
        admit, forget, new, emit = np.split(W @ np.concatenate([u[s], u[e]]) + b + S @ h + c, 4)
        carry = sigmoid(forget) * carry + sigmoid(admit) * np.tanh(new)
        h = sigmoid(emit) * np.tanh(carry)
        start, end = (
            softmax(np.array([one_score(net, place, h, u[s], u[e]) for place in u])) for net in (made.start, made.end)
        )
        said.append((start, end))
        before, (s, e) = (s, e), (int(start.argmax()), int(end.argmax()))
        if len(said) > 1 and (s, e) == before:
            break
    return said


def test_the_dynamic_pointer_equals_a_loop_and_stops_where_it_does() -> None:
    stopped = set()
    for seed in range(12):
        made, u = pointer(5, seed), values(seed)
        rounds = made(u, MASK)
        last = rounds.last()
        for row, length in enumerate(LENGTHS):
            said = loop(made, u[row, :length].numpy())
            assert rounds.live[row].tolist() == [True] * len(said) + [False] * (rounds.live.size(1) - len(said))
            for number, (start, end) in enumerate(said):
                np.testing.assert_allclose(rounds.start[row, number, :length].exp().detach(), start, atol=1e-10)
                np.testing.assert_allclose(rounds.end[row, number, :length].exp().detach(), end, atol=1e-10)
            np.testing.assert_allclose(last[0][row, :length].exp().detach(), said[-1][0], atol=1e-10)
            np.testing.assert_allclose(last[1][row, :length].exp().detach(), said[-1][1], atol=1e-10)
            stopped.add(len(said))
    assert {2, 5} <= stopped  # else the law would hold for an empty reason


def test_a_place_of_padding_has_no_probability() -> None:
    for rounds in (pointer()(values(), MASK), _plain()(values(), MASK)):
        for one in (rounds.start, rounds.end):
            torch.testing.assert_close(one.exp().sum(-1), torch.ones(one.shape[:2]).double())
            assert (one.exp()[~MASK[:, None].expand_as(one)] == 0).all()


def test_padding_changes_nothing() -> None:
    together = pointer()(values(), MASK)
    for row, length in enumerate(LENGTHS):
        alone = pointer()(values()[row : row + 1, :length], MASK[row : row + 1, :length])
        live = int(alone.live.sum())
        assert int(together.live[row].sum()) == live
        torch.testing.assert_close(together.start[row, :live, :length], alone.start[0, :live])
        torch.testing.assert_close(together.end[row, :live, :length], alone.end[0, :live])


def _plain() -> PlainPointer:
    made = PlainPointer(U)
    random(made)
    return made


def test_the_plain_pointer_equals_a_loop() -> None:
    made = _plain()
    w, b = arrays(made)
    rounds = made(values(), MASK)
    assert rounds.live.tolist() == [[True]] * B
    for row, length in enumerate(LENGTHS):
        for end, one in enumerate((rounds.start, rounds.end)):
            expected = softmax(np.array([w[end] @ u + b[end] for u in values()[row, :length].numpy()]))
            np.testing.assert_allclose(one[row, 0, :length].exp().detach(), expected, atol=1e-12)


@pytest.mark.parametrize("longest", [1, 2, 3, 7, 50])
def test_the_best_spans_are_those_of_all_that_are_allowed(longest: int) -> None:
    torch.manual_seed(longest)
    start, end = (masked_log_softmax(torch.randn(B, M).double() * 3, MASK) for _ in range(2))
    found = best_spans(start, end, longest, count=4)
    for row, length in enumerate(LENGTHS):
        every = [
            (float(start[row, s] + end[row, e]), s, e)
            for s, e in itertools.product(range(length), repeat=2)
            if s <= e < s + longest
        ]
        expected = sorted(every, reverse=True)[:4]
        assert [(one.start, one.end) for one in found[row]] == [(s, e) for _, s, e in expected]
        assert [one.log_prob for one in found[row]] == pytest.approx([score for score, _, _ in expected])


# -- losses ----------------------------------------------------------------------------------------------------


def test_the_loss_is_summed_over_the_rounds_until_a_row_stops() -> None:
    torch.manual_seed(0)
    start, end = (torch.randn(3, 2, M).double().log_softmax(-1) for _ in range(2))
    live = torch.tensor([[True, True], [True, False], [True, True]])
    places = torch.tensor([[2, 5, NOWHERE], [0, 0, NOWHERE], [NOWHERE] * 3])
    found = span_loss(Rounds(start, end, live), places)
    first = -(start[0, 0, 2] + end[0, 0, 5]), -(start[0, 1, 2] + end[0, 1, 5])
    second = -(start[1, 0, 0] + end[1, 0, 0])
    assert found.total.item() == pytest.approx(float(sum(first) + second))
    assert found.nll.item() == pytest.approx(float(first[1] + second))
    assert found.symbols.item() == 2


def test_a_word_has_the_mass_of_all_its_places() -> None:
    weights = torch.tensor([[0.5, 0.2, 0.3], [0.0, 1.0, 0.0], [0.1, 0.1, 0.8]]).double()
    places = torch.tensor([[0, 2], [1, NOWHERE], [NOWHERE, NOWHERE]])
    found = word_loss(weights, places)
    assert found.nll.item() == pytest.approx(-np.log(0.8))
    assert found.symbols.item() == 2
    assert np.isfinite(word_loss(weights, torch.tensor([[1], [0], [2]])).total.item())  # also of a word without mass
