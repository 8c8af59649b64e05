"""Sequences as one vector: every pool is its equation, and nothing beyond a sequence's end has a say."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck

from regard.attention import POOLS, Pool, Pooled, redundancy
from regard.data.batching import Padded
from regard.encoders.recurrent import RecurrentEncoder
from tests.tiny import arrays, softmax

B, S, V, A, R = 2, 7, 5, 11, 3
LENGTHS = torch.tensor([7, 4])
MASK = torch.arange(S) < LENGTHS[:, None]

every = pytest.mark.parametrize("name", POOLS)
seeing = pytest.mark.parametrize("name", ["attention", "structured"])


def make(name: str) -> Pool:
    torch.manual_seed(0)
    pool = POOLS[name](V, A, R).double()
    for weight in pool.parameters():
        nn.init.normal_(weight)
    return pool


def example() -> Tensor:
    return torch.randn(B, S, V, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def same(one: Pooled, other: Pooled) -> None:
    torch.testing.assert_close(one.vector, other.vector, atol=1e-12, rtol=0)
    torch.testing.assert_close(one.weights, other.weights, atol=1e-12, rtol=0)


def test_the_simple_ones_by_hand() -> None:
    values = torch.tensor([[[1.0, 6.0], [3.0, 2.0], [8.0, -1.0], [9.0, 9.0]]])
    mask = torch.tensor([[True, True, True, False]])
    expected = {"last": [8, -1], "mean": [4, 7 / 3], "max": [8, 6]}
    for name, vector in expected.items():
        torch.testing.assert_close(
            POOLS[name](2, A, R)(values, mask).vector, torch.tensor([vector], dtype=torch.float32)
        )


def test_the_last_is_the_encoders_summary_where_there_is_one() -> None:
    encoded = RecurrentEncoder(V, 3, "gru", bidirectional=True)(Padded(example().float(), LENGTHS))
    assert make("last")(*encoded[:3]).vector is encoded.summary
    forwards = RecurrentEncoder(V, 3, "gru", bidirectional=False)(Padded(example().float(), LENGTHS))
    torch.testing.assert_close(make("last")(forwards.values, forwards.mask).vector, forwards.summary)


def test_attention_is_its_equation() -> None:
    pool, values = make("attention"), example()
    W, b, u = arrays(pool)
    pooled = pool(values, MASK)
    for row, length in enumerate(LENGTHS.tolist()):
        h = values[row, :length].numpy()
        weights = softmax(np.array([u[0] @ np.tanh(W @ h[j] + b) for j in range(length)]))
        np.testing.assert_allclose(pooled.weights[row, 0, :length].detach(), weights, atol=1e-12)
        expected = sum(weights[j] * h[j] for j in range(length))
        np.testing.assert_allclose(pooled.vector[row].detach(), expected, atol=1e-12)


def test_structured_is_its_equation() -> None:
    pool, values = make("structured"), example()
    W1, W2 = arrays(pool)
    pooled = pool(values, MASK)
    for row, length in enumerate(LENGTHS.tolist()):
        H = values[row, :length].numpy()
        for r in range(R):
            weights = softmax(np.array([W2[r] @ np.tanh(W1 @ H[j]) for j in range(length)]))
            np.testing.assert_allclose(pooled.weights[row, r, :length].detach(), weights, atol=1e-12)
            found = pooled.vector[row, r * V : (r + 1) * V].detach()
            np.testing.assert_allclose(found, sum(weights[j] * H[j] for j in range(length)), atol=1e-12)


@every
def test_sizes_are_told(name: str) -> None:
    pool = make(name)
    pooled = pool(example(), MASK)
    assert pooled.vector.shape == (B, pool.size)
    assert pooled.weights.shape == (B, pool.rows, S)
    assert (pool.rows, pool.size) == {"attention": (1, V), "structured": (R, R * V)}.get(name, (0, V))


@seeing
def test_weights_sum_to_one_on_real_places_and_are_zero_elsewhere(name: str) -> None:
    weights = make(name)(example(), MASK).weights
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[:, :, 0]))
    assert (weights.masked_select(~MASK[:, None]) == 0).all()
    assert (weights.masked_select(MASK[:, None]) > 0).all()


@every
def test_padding_and_batch_mates_change_nothing(name: str) -> None:
    pool, values = make(name), example()
    pooled = pool(values, MASK)
    garbage = torch.where(MASK[:, :, None], values, 1e3)
    same(pool(garbage, MASK), pooled)
    longer = pool(nn.functional.pad(values, (0, 0, 0, 4), value=1e3), nn.functional.pad(MASK, (0, 4)))
    same(Pooled(longer.vector, longer.weights[:, :, :S]), pooled)
    alone = pool(values[1:, :4], MASK[1:, :4])
    same(alone, Pooled(pooled.vector[1:], pooled.weights[1:, :, :4]))


@every
def test_leading_axes_are_free(name: str) -> None:
    pool, values = make(name), example()
    documents = pool(values.view(1, B, S, V), MASK.view(1, B, S))
    same(Pooled(documents.vector[0], documents.weights[0]), pool(values, MASK))


@pytest.mark.parametrize("name", ["mean", "max", "attention", "structured"])
def test_of_nothing_they_make_zeros(name: str) -> None:
    values = example().requires_grad_()
    pooled = make(name)(values, torch.zeros_like(MASK))
    assert (pooled.vector == 0).all()
    assert (pooled.weights == 0).all()
    pooled.vector.sum().backward()
    assert values.grad is not None
    assert values.grad.isfinite().all()


@pytest.mark.parametrize("name", ["mean", "max", "attention", "structured"])
def test_the_order_of_places_does_not_matter_to_those_who_see_all(name: str) -> None:
    pool, values = make(name), example()
    torch.testing.assert_close(pool(values.flip(1), MASK.flip(1)).vector, pool(values, MASK).vector)


@every
def test_gradients(name: str) -> None:
    pool = make(name)
    assert gradcheck(lambda values: pool(values, MASK)[:2], (example().requires_grad_(),))


# -- how alike the rows are ------------------------------------------------------------------------------------


def test_the_penalty_is_its_equation() -> None:
    A = torch.softmax(example(), -1)  # (B, S, V): two matrices of S rows over V places
    for one, found in zip(A, redundancy(A), strict=True):
        total = sum((float(one[r] @ one[q]) - (r == q)) ** 2 for r in range(S) for q in range(S))
        assert found.item() == pytest.approx(total, abs=1e-12)


def test_rows_that_look_at_different_single_places_cost_nothing() -> None:
    assert redundancy(torch.eye(S)[[4, 0, 6]]) == 0
    assert redundancy(torch.eye(S)[[4, 0, 4]]) == 2  # two alike, told twice
    assert redundancy(torch.full((1, S), 1 / S)).item() == pytest.approx((1 / S - 1) ** 2)  # spread over all places


@pytest.mark.parametrize("rows", [1, 3])
def test_softmax_rows_cost_something_unless_each_has_a_place_of_its_own(rows: int) -> None:
    torch.manual_seed(2)
    weights = torch.randn(100, rows, S).double().softmax(-1)
    assert (redundancy(weights) > 0).all()
    assert redundancy(weights).max() < rows**2


def test_the_penalty_leads_apart() -> None:
    energy = torch.zeros(2, S, dtype=torch.float64)
    energy[0, 0] = energy[1, 1] = 0.1  # else both would move alike
    energy.requires_grad_()
    for _ in range(200):
        (slope,) = torch.autograd.grad(redundancy(energy.softmax(-1)), energy)
        energy.data -= slope
    assert energy.softmax(-1).argmax(-1).tolist() == [0, 1]
    assert redundancy(energy.softmax(-1)) < 0.01
    assert gradcheck(redundancy, (torch.randn(2, 3, 5).double().softmax(-1).requires_grad_(),))
