from collections import Counter

import numpy as np
import pytest
import torch

from regard.errors import UsageError
from regard.search import greedy, sample
from regard.search.sample import narrow
from tests.search.toys import END, FORBIDDEN, Toy, limits, same

DRAWS = 4000


def first_symbols(toy: Toy, **options: float) -> np.ndarray:
    """How often each symbol came first, as (N,) counts."""
    (found,) = sample(toy.step, toy.start(), limits([1]), sources=1, seeds=[11], count=DRAWS, **options)
    counts = Counter(one.tokens[0] if one.tokens else END for one in found)
    return np.array([counts[symbol] for symbol in range(toy.symbols)])


def distribution(toy: Toy, temperature: float = 1.0) -> np.ndarray:
    row = toy.row(0, []) / temperature
    return np.exp(row) / np.exp(row).sum()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_symbols_come_as_often_as_they_should(temperature):
    toy = Toy(2, letters=5)
    expected = distribution(toy, temperature)
    counts = first_symbols(toy, temperature=temperature)
    assert (counts[expected == 0] == 0).all()
    expected, counts = expected[expected > 0] * DRAWS, counts[expected > 0]
    assert ((counts - expected) ** 2 / expected).sum() < 20.5  # χ² with 5 degrees of freedom passes this in 999 of 1000


def test_whole_answers_come_as_often_as_they_should():
    toy = Toy(3, letters=2, sharpness=1.0)
    toy.table[..., list(FORBIDDEN)] = -np.inf
    toy.table -= np.log(np.exp(toy.table).sum(-1, keepdims=True))
    (found,) = sample(toy.step, toy.start(), limits([2]), sources=1, seeds=[5], count=DRAWS)
    counts = Counter((tuple(one.tokens), one.finished) for one in found)
    for (tokens, finished), count in counts.items():
        p = np.exp(toy.log_prob(0, list(tokens), finished))
        if not finished:  # and then drew something else than END
            p -= np.exp(toy.log_prob(0, list(tokens), True))
        assert abs(count - DRAWS * p) < 4 * np.sqrt(DRAWS * p) + 1


def test_top_k_of_one_is_greedy():
    toy, rules = Toy(6, sources=5), limits([0, 3, 5, 7, 9])
    quick = greedy(toy.step, toy.start(), rules, sources=5)
    drawn = sample(toy.step, toy.start(), rules, sources=5, seeds=range(5), top_k=1, temperature=3.0, count=2)
    assert all(same(one, other) for answers, other in zip(drawn, quick, strict=True) for one in answers)


def test_top_k_draws_from_the_k_likeliest():
    toy = Toy(2, letters=5)
    likeliest = set(np.argsort(-distribution(toy))[:3].tolist())
    assert set(first_symbols(toy, top_k=3).nonzero()[0].tolist()) == likeliest


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.05, 1), (0.5, 1), (0.51, 2), (0.8, 2), (0.81, 3), (0.95, 3), (0.96, 4), (1.0, 4)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_top_p_keeps_the_smallest_set_with_that_mass(top_p, kept, dtype):
    probabilities = torch.tensor([[0.05, 0.3, 0.5, 0.15], [0.5, 0.15, 0.05, 0.3]], dtype=dtype)
    left = narrow(probabilities.log(), 1.0, 0, top_p)
    for row, order in zip(left, ([2, 1, 3, 0], [0, 3, 1, 2]), strict=True):
        assert set(row.nonzero().squeeze(1).tolist()) == set(order[:kept])


def test_cuts_follow_the_temperature():
    probabilities = torch.tensor([[0.1, 0.9]])
    assert (narrow(probabilities.log(), 1.0, 0, 0.8) > 0).tolist() == [[False, True]]
    assert (narrow(probabilities.log(), 10.0, 0, 0.8) > 0).tolist() == [[True, True]]


def test_of_equals_top_k_keeps_the_lower_number():
    assert narrow(torch.zeros(1, 7), 1.0, 3, 1.0).nonzero()[:, 1].tolist() == [0, 1, 2]


def test_a_seed_gives_the_same_draws_and_another_seed_others():
    toy, rules = Toy(7, sources=1), limits([6])

    def drawn(seed: int, count: int) -> list[list[int]]:
        (found,) = sample(toy.step, toy.start(), rules, sources=1, seeds=[seed], count=count)
        return [one.tokens for one in found]

    assert drawn(1, 20) == drawn(1, 20)
    assert drawn(1, 7) == drawn(1, 20)[:7]
    assert drawn(1, 20) != drawn(2, 20)


def test_done_walkers_cost_nothing():
    toy = Toy(7, sources=2)
    found = sample(toy.step, toy.start(), limits([6, 6]), sources=2, seeds=[1, 2], count=5)
    lengths = [len(one.tokens) for answers in found for one in answers]
    assert [len(rows) for rows in toy.rows] == [
        sum(length >= place for length in lengths) for place in range(max(lengths) + 1)
    ]


def test_model_with_nowhere_to_go_is_cut_off():
    toy = Toy(7)
    toy.table[:] = -np.inf
    ((found,),) = sample(toy.step, toy.start(), limits([6]), sources=1, seeds=[1], top_p=0.9, top_k=2)
    assert (found.tokens, found.finished, found.log_prob) == ([], False, 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": [1, 2]}, "2 seeds came for 1 sources"),
        ({"temperature": 0.0}, "temperature 0.0"),
        ({"temperature": float("nan")}, "temperature nan"),
        ({"top_k": -1}, "top_k -1"),
        ({"top_p": 0.0}, "top_p 0.0"),
        ({"top_p": 1.5}, "top_p 1.5"),
        ({"count": 0}, "0 samples"),
    ],
)
def test_wrong_calls_are_refused(options, message):
    toy = Toy(0)
    with pytest.raises(UsageError, match=message):
        sample(toy.step, toy.start(), limits([4]), sources=1, **{"seeds": [1], **options})
