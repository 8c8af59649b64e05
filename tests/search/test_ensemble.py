import numpy as np
import pytest
import torch

from regard.errors import UsageError
from regard.search import beam, ensemble, pick
from tests.search.toys import Toy, limits, same


def test_a_model_with_itself_is_the_model():
    toy = Toy(3, sources=3)
    alone = beam(toy.step, toy.start(), limits([5] * 3), sources=3, width=4, nbest=3)
    both = beam(
        ensemble([toy.step, toy.step]),
        (toy.start(), toy.start()),
        limits([5] * 3),
        sources=3,
        width=4,
        nbest=3,
    )
    assert all(same(a, b) for one, two in zip(alone, both, strict=True) for a, b in zip(one, two, strict=True))


def test_probabilities_and_weights_are_means():
    toys = [Toy(seed, sources=2) for seed in (5, 6, 7)]
    tokens, sources = torch.tensor([4, 6, 5]), torch.tensor([0, 1, 1])
    states = tuple(pick(toy.start(), sources) for toy in toys)
    output = ensemble([toy.step for toy in toys])(tokens, states, sources)
    members = [toy.step(tokens, state, sources) for toy, state in zip(toys, states, strict=True)]
    np.testing.assert_allclose(
        output.log_probs.numpy(),
        np.log(np.mean([np.exp(m.log_probs.numpy()) for m in members], 0)),
        rtol=1e-9,
    )
    np.testing.assert_allclose(output.weights.numpy(), np.mean([m.weights.numpy() for m in members], 0), rtol=1e-9)
    assert [state.trail.tolist() for state in output.state] == [m.state.trail.tolist() for m in members]


def test_a_member_without_attention_does_not_thin_the_weights():
    toys = [Toy(seed, sources=2) for seed in (5, 6)]

    def blind(tokens, state, sources):
        output = toys[1].step(tokens, state, sources)
        return output._replace(weights=torch.zeros_like(output.weights))

    tokens, sources = torch.tensor([4, 6, 5]), torch.tensor([0, 1, 1])
    states = tuple(pick(toy.start(), sources) for toy in toys)
    output = ensemble([toys[0].step, blind])(tokens, states, sources)
    torch.testing.assert_close(output.weights, toys[0].step(tokens, states[0], sources).weights)


def test_what_one_member_holds_impossible_another_may_still_say():
    one, other = Toy(5), Toy(6)
    one.table[..., 4], other.table[..., 5] = -np.inf, -np.inf
    one.table[..., 6] = other.table[..., 6] = -np.inf
    output = ensemble([one.step, other.step])(torch.tensor([1]), (one.start(), other.start()), torch.tensor([0]))
    assert output.log_probs[0, [4, 5]].isfinite().all()
    assert output.log_probs[0, 6] == -torch.inf


def test_members_must_share_a_vocabulary_and_there_must_be_some():
    small, large = Toy(5, letters=3), Toy(5, letters=4)
    with pytest.raises(UsageError, match=r"\[7, 8\] symbols"):
        ensemble([small.step, large.step])(torch.tensor([1]), (small.start(), large.start()), torch.tensor([0]))
    with pytest.raises(UsageError, match="no models"):
        ensemble([])
