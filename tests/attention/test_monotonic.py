"""The filter against the sum over all monotone paths, written out; its gradient; its padding."""

import itertools
import math

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention import AdditiveScore, Encoded, Memory, MonotonicTransition, reweigh
from regard.errors import UsageError
from tests.tiny import tensors

B, S, T, Q, V, A = 2, 5, 3, 7, 11, 13
LENGTHS = [5, 3]
MASK = torch.arange(S) < torch.tensor(LENGTHS)[:, None]


def make(longest_jump: int = 2) -> tuple[MonotonicTransition, Tensor, Encoded, Tensor]:
    """A transition, queries (B, T, Q), a source, and log p(y_t | a_t = j) as (B, T, S)."""
    torch.manual_seed(0)
    transition = MonotonicTransition(AdditiveScore(Q, V, A), longest_jump).double()
    torch.nn.init.normal_(transition.jump_bias)
    encoded = Encoded(torch.randn(B, S, V).double(), MASK, torch.randn(B, V).double())
    return transition, torch.randn(B, T, Q).double(), encoded, -torch.rand(B, T, S).double() * 5


def run(
    transition: MonotonicTransition, queries: Tensor, memory: Memory, log_likelihood: Tensor
) -> tuple[Tensor, Tensor]:
    """log p(y | x) (B,) and the last posterior (B, S)."""
    posterior, total = transition.begin(memory), torch.zeros(len(queries)).to(queries)
    for t in range(queries.size(1)):
        prior = transition(queries[:, t], memory, posterior)
        posterior, log_evidence = reweigh(prior, log_likelihood[:, t])
        total = total + log_evidence
    return total, posterior


def step_probability(energy: Tensor, bias: Tensor, i: int, j: int, length: int) -> float:
    """p(a_t = j | a_{t-1} = i), straight from the equation; energy (S,) is that of step t."""
    powers = [math.exp(float(energy[k] + bias[min(k - i, len(bias) - 1)])) for k in range(i, length)]
    return powers[j - i] / sum(powers) if j >= i else 0.0


def enumerate_paths(
    transition: MonotonicTransition, queries: Tensor, memory: Memory, log_likelihood: Tensor, b: int
) -> tuple[float, list[float]]:
    """Source b: p(y | x) and the posterior of the last place, as sums over all S^T paths."""
    energy = transition.score(queries, memory.keys)[b].detach()  # (T, S)
    bias = transition.jump_bias.detach()
    by_last = [0.0] * S
    for path in itertools.product(range(LENGTHS[b]), repeat=T):
        probability, last = 1.0, 0
        for t, place in enumerate(path):
            moves = step_probability(energy[t], bias, last, place, LENGTHS[b])
            probability *= moves * math.exp(float(log_likelihood[b, t, place]))
            last = place
        by_last[last] += probability
    return sum(by_last), [mass / sum(by_last) for mass in by_last]


@pytest.mark.parametrize("longest_jump", [0, 1, 2, 9])
def test_equals_the_sum_over_all_monotone_paths(longest_jump: int) -> None:
    transition, queries, encoded, log_likelihood = make(longest_jump)
    memory = transition.remember(encoded)
    total, posterior = run(transition, queries, memory, log_likelihood)
    for b in range(B):
        likelihood, last = enumerate_paths(transition, queries, memory, log_likelihood, b)
        assert total[b].item() == pytest.approx(math.log(likelihood), abs=1e-10)
        assert posterior[b].tolist() == pytest.approx(last, abs=1e-10)


def test_the_likelihood_of_all_outputs_is_one() -> None:
    """With three symbols, p(y | x) summed over all 3^T outputs is 1."""
    transition, queries, encoded, _ = make()
    memory = transition.remember(encoded)
    emission = torch.randn(B, T, S, 3).double().log_softmax(-1)
    everything = torch.zeros(B).double()
    for output in itertools.product(range(3), repeat=T):
        chosen = torch.stack([emission[:, t, :, symbol] for t, symbol in enumerate(output)], 1)
        everything = everything + run(transition, queries, memory, chosen)[0].exp()
    torch.testing.assert_close(everything, torch.ones(B).double())


def test_it_begins_at_the_first_place_and_never_moves_back() -> None:
    transition, queries, encoded, _ = make()
    memory = transition.remember(encoded)
    assert transition.begin(memory).tolist() == [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]
    at_third = torch.zeros(B, S).double()
    at_third[:, 2] = 1
    prior = transition(queries[:, 0], memory, at_third)
    assert (prior[:, :2] == 0).all()
    assert (prior[0, 2:] > 0).all()
    assert prior[1].tolist() == [0, 0, 1, 0, 0]  # at its last place it stays


def test_a_prior_sums_to_one_and_is_zero_on_padding() -> None:
    transition, queries, encoded, log_likelihood = make()
    memory = transition.remember(encoded)
    posterior = transition.begin(memory)
    for t in range(T):
        prior = transition(queries[:, t], memory, posterior)
        posterior = reweigh(prior, log_likelihood[:, t]).posterior
        for distribution in (prior, posterior):
            torch.testing.assert_close(distribution.sum(-1), torch.ones(B).double())
            assert (distribution[~MASK] == 0).all()


def test_padding_and_batch_mates_change_nothing() -> None:
    transition, queries, encoded, log_likelihood = make()
    together, last = run(transition, queries, transition.remember(encoded), log_likelihood)
    short = Encoded(encoded.values[1:, :3], MASK[1:, :3], encoded.summary[1:])
    alone, alone_last = run(transition, queries[1:], transition.remember(short), log_likelihood[1:, :, :3])
    torch.testing.assert_close(together[1:], alone, atol=1e-12, rtol=0)
    torch.testing.assert_close(last[1:, :3], alone_last, atol=1e-12, rtol=0)


def test_gradient() -> None:
    transition, queries, encoded, log_likelihood = make()
    inputs = queries.requires_grad_(), encoded.values.requires_grad_(), log_likelihood.requires_grad_()

    def likelihood(queries: Tensor, values: Tensor, log_likelihood: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
        return run(transition, queries, transition.remember(encoded._replace(values=values)), log_likelihood)

    assert gradcheck(likelihood, (*inputs, transition.jump_bias), fast_mode=True)


def test_gradient_reaches_every_parameter_and_no_padding() -> None:
    transition, queries, encoded, log_likelihood = make()
    values, log_likelihood = encoded.values.requires_grad_(), log_likelihood.requires_grad_()
    total, _ = run(transition, queries, transition.remember(encoded), log_likelihood)
    leaves = [values, log_likelihood, *transition.parameters()]
    at_values, at_likelihood, *at_parameters = torch.autograd.grad(total.sum(), leaves)
    assert (at_values[~MASK] == 0).all()
    assert (at_likelihood.transpose(1, 2)[~MASK] == 0).all()
    assert all(gradient.abs().max() > 0 for gradient in at_parameters)


def test_reweigh_by_hand() -> None:
    posterior, log_evidence = reweigh(torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.2, 0.6, 1.0]]).log())
    assert posterior[0].tolist() == pytest.approx([0.25, 0.75, 0.0])
    assert log_evidence.item() == pytest.approx(math.log(0.4))


@pytest.mark.parametrize("impossible", [0.0, 1e-42])  # exactly, and too small for 1/p to be a number
def test_reweigh_is_stable(impossible: float) -> None:
    prior = torch.tensor([[1.0, impossible], [0.5, 0.5], [impossible, 1e-30]], requires_grad=True)
    log_likelihood = torch.tensor([[-1e4, 0.0], [-1e4, -1e4], [5.0, -300.0]], requires_grad=True)
    posterior, log_evidence = reweigh(prior, log_likelihood)
    torch.testing.assert_close(posterior, torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    assert log_evidence.tolist() == pytest.approx([-1e4, -1e4, -300 + math.log(1e-30)])
    gradients = torch.autograd.grad(log_evidence.sum() + (posterior**2).sum(), [prior, log_likelihood])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[1][[0, 2], [1, 0]] == 0).all()


def test_an_impossible_row_is_zero_with_finite_gradients() -> None:
    prior, log_likelihood = torch.zeros(1, S, requires_grad=True), torch.randn(1, S, requires_grad=True)
    posterior, log_evidence = reweigh(prior, log_likelihood)
    assert (posterior == 0).all()
    gradients = torch.autograd.grad(log_evidence.sum() + posterior.sum(), [prior, log_likelihood])
    assert all((gradient == 0).all() for gradient in gradients)


def test_inputs_are_left_alone() -> None:
    transition, queries, encoded, log_likelihood = make()
    memory = transition.remember(encoded)
    given = tensors((queries, log_likelihood, memory))
    before = [tensor.clone() for tensor in given]
    run(transition, queries, memory, log_likelihood)
    assert all(torch.equal(tensor, kept) for tensor, kept in zip(given, before, strict=True))


def test_the_longest_jump_is_not_negative() -> None:
    with pytest.raises(UsageError, match="0 or more"):
        MonotonicTransition(AdditiveScore(Q, V, A), -1)
