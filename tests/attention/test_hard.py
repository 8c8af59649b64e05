"""One place is looked at: the likeliest, or one drawn as often as its weight says."""

import pytest
import torch
from torch import Tensor

from regard.attention import AdditiveScore, Attention, CoverageTerm, Encoded, HardAttention, Trace, masked_sparsemax
from regard.attention.hard import Draw, start_race, winner

B, S, T, Q, V, A = 2, 5, 3, 7, 11, 13
MASK = torch.arange(S) < torch.tensor([5, 2])[:, None]
NOBODY = torch.zeros(B, dtype=torch.bool)


def example() -> tuple[HardAttention, Tensor, Encoded]:
    torch.manual_seed(0)
    hard = HardAttention(Attention(AdditiveScore(Q, V, A), V)).double()
    return hard, torch.randn(B, T, Q).double(), Encoded(torch.randn(B, S, V).double(), MASK, torch.zeros(B, V))


def test_places_win_as_often_as_their_weights_say() -> None:
    torch.manual_seed(0)
    weights, draws = torch.tensor([0.05, 0.0, 0.6, 0.35, 0.0]), 40_000
    found = winner(weights, start_race(torch.empty(draws, 5)))
    shares = found.bincount(minlength=5) / draws
    deviation = (weights * (1 - weights) / draws).sqrt()
    assert ((shares - weights).abs() <= 4 * deviation).all()
    assert shares[1] == shares[4] == 0  # what has no weight is never drawn


def test_steps_are_drawn_apart() -> None:
    torch.manual_seed(0)
    places = winner(torch.tensor([0.5, 0.5]), start_race(torch.empty(20_000, 2, 2))).double()  # two steps
    assert torch.corrcoef(places.T)[0, 1].abs() < 0.03


def test_without_a_draw_it_is_the_likeliest_places_value() -> None:
    hard, query, encoded = example()
    context, weights = hard(query, hard.remember(encoded))
    soft = hard.attention(query, hard.attention.remember(encoded))
    assert torch.equal(weights, soft.weights)
    for b in range(B):
        for t in range(T):
            assert torch.equal(context[b, t], encoded.values[b, int(weights[b, t].argmax())])


def test_with_a_draw_it_is_the_winners_value_or_the_soft_one() -> None:
    hard, query, encoded = example()
    race = torch.ones(B, S).double()
    race[0, 3], race[1, 1] = 1e-9, 1e-9
    read = hard.remember(encoded)._replace(draw=Draw(race, NOBODY))
    drawn = hard(query[:, :1], read).context[:, 0]
    assert torch.equal(drawn, torch.stack([encoded.values[0, 3], encoded.values[1, 1]]))
    second_softly = read._replace(draw=Draw(race, torch.tensor([False, True])))
    mixed = hard(query[:, :1], second_softly).context[:, 0]
    soft = hard.attention(query[:, :1], hard.attention.remember(encoded)).context[:, 0]
    assert torch.equal(mixed, torch.stack([encoded.values[0, 3], soft[1]]))


@pytest.mark.parametrize("drawn", [False, True])
def test_nothing_to_look_at_is_nothing(drawn: bool) -> None:
    hard, query, encoded = example()
    empty = encoded._replace(mask=torch.zeros_like(MASK))
    read = hard.remember(empty)
    if drawn:
        read = read._replace(draw=Draw(start_race(torch.empty(B, S).double()), NOBODY))
    assert (hard(query[:, :1], read).context == 0).all()


def test_padding_is_never_drawn() -> None:
    hard, query, encoded = example()
    hard.attention.normalise = masked_sparsemax
    values = encoded.values.masked_fill(~MASK[:, :, None], torch.nan)
    read = hard.remember(encoded)._replace(values=values)
    torch.manual_seed(0)
    for _ in range(50):
        draw = Draw(start_race(torch.empty(B, S).double()), NOBODY)
        assert hard(query[:, :1], read._replace(draw=draw)).context.isfinite().all()


def test_terms_look_back_at_the_odds() -> None:
    hard, query, encoded = example()
    back = HardAttention(Attention(AdditiveScore(Q, V, A), V, terms=[CoverageTerm(A, 3)])).double()
    assert back.looks_back
    assert not hard.looks_back
    trace = Trace.begin(MASK, torch.float64)
    first = back(query[:, :1], back.remember(encoded), trace)
    second = back(query[:, :1], back.remember(encoded), trace.after(first.weights[:, 0]))
    assert not torch.allclose(first.weights, second.weights)
