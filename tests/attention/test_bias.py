"""The terms against a loop over their equation, and that they reach the next step's weights."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck

from regard.attention import (
    TERMS,
    AdditiveScore,
    Attention,
    CoverageTerm,
    Encoded,
    FertilityTerm,
    LocationTerm,
    MarkovTerm,
    PlaneTerm,
    PositionTerm,
    Trace,
)
from regard.errors import UsageError

B, S, Q, V, A = 2, 7, 5, 11, 13
MASK = torch.arange(S) < torch.tensor([7, 4])[:, None]
GRID = torch.zeros(B, S, 2, dtype=torch.long)  # a plane of one row and seven columns, and one of two by two
GRID[0, :, 1], GRID[1, :4] = torch.arange(7), torch.cartesian_prod(torch.arange(2), torch.arange(2))

PREVIOUS = ("location", "markov")  # these look at the last step, position at none, the others at all of them

every = pytest.mark.parametrize("name", TERMS)
every_width = pytest.mark.parametrize("width", [1, 3, 9])
looking = pytest.mark.parametrize("name", [name for name in TERMS if name != "position"])


def a_trace() -> Trace:
    """Three steps of random weights on the real places."""
    torch.manual_seed(1)
    trace = Trace.begin(MASK, torch.float64, GRID)
    for _ in range(3):
        weights = torch.rand(B, S).double() * MASK
        trace = trace.after(weights / weights.sum(-1, keepdim=True))
    return trace


def looked_at(name: str, trace: Trace) -> Tensor:
    return trace.previous if name in PREVIOUS else trace.total


@pytest.mark.parametrize("name", ["location", "coverage"])
@every_width
def test_equals_a_loop_over_its_equation(name: str, width: int) -> None:
    term, trace = TERMS[name](A, width).double(), a_trace()
    kernel = term.get_parameter("surroundings.filters.weight")[:, 0]  # (F, width)
    project = term.get_parameter("surroundings.project.weight")  # (A, F)
    seen, result = looked_at(name, trace), term(trace, MASK)
    assert result.shape == (B, S, A)
    for b in range(B):
        for j in range(S):
            features = torch.zeros(kernel.size(0)).double()
            for k in range(width):
                place = j + k - width // 2
                if 0 <= place < S:
                    features = features + kernel[:, k] * seen[b, place]
            torch.testing.assert_close(result[b, j], project @ features, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", ["markov", "fertility"])
@every_width
def test_windows_equal_a_loop_over_their_equation(name: str, width: int) -> None:
    term, trace = TERMS[name](A, width).double(), a_trace()
    W = term.get_parameter("neighbours.project.weight").detach().numpy()  # (A, 2k + 1)
    seen, result = looked_at(name, trace).numpy(), term(trace, MASK).detach().numpy()
    assert result.shape == (B, S, A)
    for b in range(B):
        for j in range(S):
            window = [seen[b, i] if 0 <= i < S else 0.0 for i in range(j - width // 2, j + width // 2 + 1)]
            assert result[b, j] == pytest.approx(W @ np.array(window), abs=1e-12)


def test_position_equals_a_loop_over_its_equation() -> None:
    term, trace = PositionTerm(A, 3).double(), a_trace()
    W, result = term.get_parameter("W.weight").detach().numpy(), term(trace, MASK).detach().numpy()  # (A, 3)
    for b, length in enumerate((7, 4)):
        for j in range(1, length + 1):
            psi = np.array([math.log(1 + 4), math.log(1 + j), math.log(1 + length)])  # three steps are done: t is 4
            assert result[b, j - 1] == pytest.approx(W @ psi, abs=1e-12)


@pytest.mark.parametrize("width", [1, 3, 5, 11])
def test_the_plane_equals_a_loop_over_its_equation(width: int) -> None:
    """Planes of 3 × 5 and 2 × 4 places; a neighbour above counts though it stands five places before."""
    torch.manual_seed(0)
    term, sizes = PlaneTerm(A, width).double(), ((3, 5), (2, 4))
    Q, U = (weight.detach().numpy() for weight in term.parameters())  # (F, 1, width, width), (A, F)
    total, grid = torch.zeros(2, 15).double(), torch.zeros(2, 15, 2, dtype=torch.long)
    mask = torch.arange(15) < torch.tensor([15, 8])[:, None]
    for b, (rows, columns) in enumerate(sizes):
        total[b, : rows * columns] = torch.rand(rows * columns).double()
        grid[b, : rows * columns] = torch.cartesian_prod(torch.arange(rows), torch.arange(columns))
    result = term(Trace(total, total, torch.ones(2), grid), mask).detach().numpy()
    for b, (rows, columns) in enumerate(sizes):
        for j in range(rows * columns):
            f = np.zeros(len(Q))
            for down, right in np.ndindex(width, width):
                row, column = j // columns + down - width // 2, j % columns + right - width // 2
                if 0 <= row < rows and 0 <= column < columns:
                    f += Q[:, 0, down, right] * float(total[b, row * columns + column])
            np.testing.assert_allclose(result[b, j], U @ f, atol=1e-12)


def test_a_plane_of_one_row_is_coverage() -> None:
    plane, coverage, trace = PlaneTerm(A, 3).double(), CoverageTerm(A, 3).double(), a_trace()
    plane.filters.weight.data[:, :, 1] = coverage.surroundings.filters.weight.detach()
    plane.project.weight.data[:] = coverage.surroundings.project.weight.detach()
    torch.testing.assert_close(plane(trace, MASK)[0], coverage(trace, MASK)[0], atol=1e-12, rtol=0)
    assert not torch.allclose(plane(trace, MASK)[1], coverage(trace, MASK)[1])


def test_a_plane_needs_a_grid() -> None:
    with pytest.raises(UsageError, match="term coverage"):
        PlaneTerm(A, 3)(a_trace()._replace(grid=None), MASK)


@every
def test_padding_never_leaks(name: str) -> None:
    term, trace = TERMS[name](A, 5).double(), a_trace()
    dirty = Trace(trace.previous + 9.0 * ~MASK, trace.total + 9.0 * ~MASK, trace.step, GRID + 9 * ~MASK[:, :, None])
    assert torch.equal(term(dirty, MASK), term(trace, MASK))
    short = Trace(trace.previous[1:, :4], trace.total[1:, :4], trace.step[1:], GRID[1:, :4])  # the second, unpadded
    torch.testing.assert_close(term(short, MASK[1:, :4])[0], term(trace, MASK)[1, :4], atol=1e-12, rtol=0)


@every
def test_gradient(name: str) -> None:
    term, trace = TERMS[name](A, 3).double(), a_trace()
    previous, total = trace.previous.requires_grad_(), trace.total.requires_grad_()
    weights = tuple(term.parameters())

    def called(p: Tensor, c: Tensor, *_: Tensor) -> Tensor:
        found: Tensor = term(Trace(p, c, trace.step, GRID), MASK)
        return found + 0 * (p + c)[:, :, None]  # position looks at neither

    assert gradcheck(called, (previous, total, *weights), fast_mode=True)


@pytest.mark.parametrize(("last", "all_steps"), [(LocationTerm, CoverageTerm), (MarkovTerm, FertilityTerm)])
def test_some_see_all_earlier_steps_and_some_only_the_last(last: Any, all_steps: Any) -> None:
    location, coverage = last(A, 3).double(), all_steps(A, 3).double()
    trace = a_trace()
    other = trace._replace(total=trace.total * 2)
    assert torch.equal(location(other, MASK), location(trace, MASK))
    assert not torch.allclose(coverage(other, MASK), coverage(trace, MASK))
    other = trace._replace(previous=trace.previous.flip(-1))
    assert torch.equal(coverage(other, MASK), coverage(trace, MASK))
    assert not torch.allclose(location(other, MASK), location(trace, MASK))


@every
def test_past_weights_change_the_next_weights(name: str) -> None:
    torch.manual_seed(0)
    attention = Attention(AdditiveScore(Q, V, A), V, terms=[TERMS[name](A, 3)])
    encoded = Encoded(torch.randn(B, S, V), MASK, torch.randn(B, V))
    memory, query = attention.remember(encoded), torch.randn(B, 1, Q)
    trace = Trace.begin(MASK, torch.float32, GRID)
    first = attention(query, memory, trace).weights[:, 0]
    second = attention(query, memory, trace.after(first)).weights[:, 0]
    assert ((first - second).abs().amax(-1) > 1e-4).all()


def test_a_coverage_that_forbids_rereading_moves_on() -> None:
    """With e_j = −10 Σ_{t'<t} α_t'j, four equal places are read evenly, and a place once read is left."""
    attention = Attention(AdditiveScore(Q, V, 1), V, terms=[CoverageTerm(1, 1)])
    for parameter in attention.parameters():
        nn.init.zeros_(parameter)
    attention.get_parameter("terms.0.surroundings.filters.weight").data[0] = 1
    attention.get_parameter("terms.0.surroundings.project.weight").data[0, 0] = -1
    attention.get_parameter("score.v.weight").data[0, 0] = 10
    mask = torch.ones(1, 4, dtype=torch.bool)
    memory = attention.remember(Encoded(torch.randn(1, 4, V), mask, torch.randn(1, V)))
    trace = Trace.begin(mask, torch.float32).after(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    weights = attention(torch.randn(1, 1, Q), memory, trace).weights[0, 0]
    left = torch.tensor(-10.0).mul(torch.tensor(1.0).tanh()).exp()
    expected = torch.tensor([float(left), 1, 1, 1]) / (3 + left)
    torch.testing.assert_close(weights, expected)


def test_a_term_stands_inside_the_tanh() -> None:
    torch.manual_seed(0)
    score, term = AdditiveScore(Q, V, A).double(), LocationTerm(A, 3).double()
    attention = Attention(score, V, terms=[term])
    encoded = Encoded(torch.randn(B, S, V).double(), MASK, torch.randn(B, V).double())
    query, trace = torch.randn(B, 1, Q).double(), a_trace()
    inside = score.W(query) + score.U(encoded.values) + term(trace, MASK)  # (B, S, A)
    energy = score.v(inside.tanh()).squeeze(-1).masked_fill(~MASK, -torch.inf)
    weights = attention(query, attention.remember(encoded), trace).weights[:, 0]
    torch.testing.assert_close(weights, energy.softmax(-1), atol=1e-12, rtol=0)


def test_position_sees_the_step_and_no_weights() -> None:
    term, trace = PositionTerm(A, 3).double(), a_trace()
    other = Trace(trace.previous.flip(-1), trace.total * 2, trace.step)
    assert torch.equal(term(other, MASK), term(trace, MASK))
    assert not torch.allclose(term(trace._replace(step=trace.step + 1), MASK), term(trace, MASK))


@looking
@pytest.mark.parametrize("width", [0, 2, -3])
def test_the_width_must_be_odd(name: str, width: int) -> None:
    with pytest.raises(UsageError, match="odd number"):
        TERMS[name](A, width)
