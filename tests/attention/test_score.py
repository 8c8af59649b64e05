"""Every score against a NumPy loop over its equation."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd import gradcheck
from torch.nn.functional import scaled_dot_product_attention

from regard.attention import SCORES, Attention, Encoded, Score
from regard.attention.score import AdditiveScore, BilinearScore, DotScore, MLPScore, ScaledDotScore
from regard.errors import UsageError

Array = NDArray[np.float64]
B, S, T, Q, V, A = 2, 3, 5, 7, 11, 13

SAME = {"dot", "scaled"}  # query and values must have one size
every = pytest.mark.parametrize("name", SCORES)


def make(name: str) -> tuple[Score, Tensor, Tensor]:
    """A score with values (B, S, V) and query (B, T, Q) that fit it."""
    torch.manual_seed(0)
    query_size = V if name in SAME else Q
    score = SCORES[name](query_size, V, A)
    module(score).double()
    return score, torch.randn(B, T, query_size).double(), torch.randn(B, S, V).double()


def module(score: Score) -> nn.Module:
    assert isinstance(score, nn.Module)
    return score


def array(score: Score, name: str) -> Array:
    array: Array = module(score).get_parameter(name).detach().numpy()
    return array


def one_energy(name: str, score: Score, q: Array, h: Array) -> float:
    """The equation of one score, for one query and one value."""
    if name == "dot":
        return float(sum(q[i] * h[i] for i in range(V)))
    if name == "scaled":
        return float(sum(q[i] * h[i] for i in range(V)) / V**0.5)
    W = array(score, "W.weight")
    if name == "projected":
        return float(np.dot(W @ q, array(score, "U.weight") @ h))
    if name == "bilinear":
        return float(sum(q[i] * W[i, j] * h[j] for i in range(Q) for j in range(V)))
    hidden = np.tanh(W @ q + array(score, "U.weight") @ h + array(score, "U.bias"))
    if name == "mlp":
        hidden = np.tanh(array(score, "deeper.0.weight") @ hidden + array(score, "deeper.0.bias"))
    return float(array(score, "v.weight")[0] @ hidden)


@every
def test_equals_a_loop_over_its_equation(name: str) -> None:
    score, query, values = make(name)
    energy = score(query, score.keys(values))
    assert energy.shape == (B, T, S)
    for b, t, j in np.ndindex(B, T, S):
        expected = one_energy(name, score, query[b, t].numpy(), values[b, j].numpy())
        assert energy[b, t, j].item() == pytest.approx(expected, abs=1e-12)


@every
def test_key_size_is_the_size_of_the_keys(name: str) -> None:
    score, _, values = make(name)
    assert score.keys(values).shape == (B, S, score.key_size)


@every
def test_gradient(name: str) -> None:
    score, query, values = make(name)
    query, values = query[:, :2].requires_grad_(), values.requires_grad_()
    parameters = tuple(module(score).parameters())
    assert gradcheck(lambda q, h, *_: score(q, score.keys(h)), (query, values, *parameters), fast_mode=True)


@pytest.mark.parametrize("name", sorted(SCORES.keys() - SAME))
def test_every_parameter_matters(name: str) -> None:
    score, query, values = make(name)
    weights = torch.randn(B, T, S).double()
    total = (score(query, score.keys(values)) * weights).sum()
    gradients = torch.autograd.grad(total, list(module(score).parameters()))
    assert all(gradient.abs().max() > 0 for gradient in gradients)


@every
def test_inputs_are_left_alone(name: str) -> None:
    score, query, values = make(name)
    before = query.clone(), values.clone()
    keys = score.keys(values)
    kept = keys.clone()
    score(query, keys)
    assert torch.equal(query, before[0])
    assert torch.equal(values, before[1])
    assert torch.equal(keys, kept)


def test_scaled_dot_equals_torchs_own() -> None:
    torch.manual_seed(0)
    query, values = torch.randn(B, T, V).double(), torch.randn(B, S, V).double()
    mask = torch.tensor([[True, True, True], [True, False, True]])
    attention = Attention(ScaledDotScore(V, V, A), V)
    attended = attention(query, attention.remember(Encoded(values, mask, values[:, 0])))
    expected = scaled_dot_product_attention(query, values, values, attn_mask=mask[:, None])
    torch.testing.assert_close(attended.context, expected, atol=1e-12, rtol=0)


def test_additive_by_hand() -> None:
    score = AdditiveScore(1, 1, 1)
    nn.init.zeros_(score.W.weight)
    nn.init.ones_(score.U.weight)
    nn.init.zeros_(score.U.bias)
    nn.init.ones_(score.v.weight)
    values = torch.tensor([[[-2.0], [0.0], [0.5]]])
    energy = score(torch.tensor([[[9.0]]]), score.keys(values))
    torch.testing.assert_close(energy[0, 0], values[0, :, 0].tanh())


def test_bilinear_with_the_identity_is_dot() -> None:
    bilinear, dot = BilinearScore(V, V, A), DotScore(V, V, A)
    nn.init.eye_(bilinear.W.weight)
    query, values = torch.randn(B, T, V), torch.randn(B, S, V)
    torch.testing.assert_close(bilinear(query, bilinear.keys(values)), dot(query, dot.keys(values)))


def test_mlp_with_one_layer_is_additive() -> None:
    mlp, additive = MLPScore(Q, V, A, layers=1), AdditiveScore(Q, V, A)
    additive.load_state_dict(mlp.state_dict())
    query, values = torch.randn(B, T, Q), torch.randn(B, S, V)
    assert torch.equal(mlp(query, mlp.keys(values)), additive(query, additive.keys(values)))


def test_mlp_has_as_many_layers_as_asked_for() -> None:
    assert len(MLPScore(Q, V, A, layers=4).deeper) == 3
    with pytest.raises(UsageError, match="at least 1"):
        MLPScore(Q, V, A, layers=0)


@pytest.mark.parametrize("name", sorted(SAME))
def test_dot_says_what_to_do_about_unequal_sizes(name: str) -> None:
    with pytest.raises(UsageError, match=r"size 7 and the values 11; .*bilinear"):
        SCORES[name](Q, V, A)
