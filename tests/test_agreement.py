"""Two directions as one loss: each is what it would be alone, and the bonus has the bounds the algebra gives."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.agreement import Agreement, agreed, backward_half, turn
from regard.data.batching import Batch, Padded
from regard.data.vocabulary import BEGIN, END, PAD
from regard.errors import UsageError
from regard.losses import Wanted
from regard.model import EncoderDecoder
from regard.tasks.codec import Codec
from regard.tasks.sequence import batch, encode, loss
from tests.tiny import CODEC, EXAMPLES, model

ENCODINGS = encode(CODEC, EXAMPLES)
TURNED = [one._replace(source=one.target[1:-1], target=[BEGIN, *one.source, END]) for one in ENCODINGS]
NUMBERS = list(range(len(EXAMPLES)))
every_attention = pytest.mark.parametrize("attention", ["soft", "monotonic"])


def half(made: EncoderDecoder) -> EncoderDecoder:
    back = backward_half(made)
    assert back is not None
    return back


def by_loops(made: EncoderDecoder, given: Batch, turned: Batch) -> float:
    """Σ_tj α_tj β_jt of every pair, of its own symbols only."""
    there = made(given.source, given.target.data[:, :-1]).weights.tolist()
    back = half(made)(turned.source, turned.target.data[:, :-1]).weights.tolist()
    total = 0.0
    lengths = zip(given.source.lengths.tolist(), turned.source.lengths.tolist(), strict=True)
    for row, (places, steps) in enumerate(lengths):
        total += sum(there[row][t][j] * back[row][j][t] for t in range(steps) for j in range(places))
    return total


@every_attention
@pytest.mark.parametrize("bonus", [0.0, 0.7])
def test_the_loss_is_that_of_both_directions_and_the_bonus(attention: str, bonus: float) -> None:
    made = model(1, agreement=bonus, attention=attention)
    given, turned = batch(ENCODINGS, NUMBERS), batch(TURNED, NUMBERS)
    aside = made.asides[-1]
    assert isinstance(aside, Agreement)
    alone = EncoderDecoder(made.encoder, made.decoder)
    there, back = loss(alone, given, 0.1), loss(half(made), turned, 0.1)
    found = loss(made, given, 0.1)
    expected = there.total.item() + back.total.item() - bonus * by_loops(made, given, turned)
    assert found.total.item() == pytest.approx(expected, abs=1e-9)
    assert found.nll.item() == pytest.approx(there.nll.item(), abs=1e-9)  # perplexity is that of the answers
    assert found.symbols == there.symbols


@every_attention
def test_batch_mates_and_padding_change_nothing(attention: str) -> None:
    made = model(2, agreement=0.7, attention=attention)
    alone = [loss(made, batch(ENCODINGS, [number])).total.item() for number in NUMBERS]
    for numbers in (NUMBERS, NUMBERS[::-1], [1, 6, 2]):
        expected = sum(alone[number] for number in numbers)
        assert loss(made, batch(ENCODINGS, numbers)).total.item() == pytest.approx(expected, abs=1e-9)


def test_both_directions_learn() -> None:
    made = model(3, agreement=0.7)
    loss(made, batch(ENCODINGS, NUMBERS)).total.backward()
    for name, weight in made.named_parameters():
        assert weight.grad is not None, name
        assert (weight.grad != 0).any(), name


def test_the_bonus_reaches_both_models() -> None:
    """Also where neither writes anything: its gradient alone is not zero."""
    made = model(3, agreement=0.7)
    losses = [loss(model(3, agreement=bonus), batch(ENCODINGS, NUMBERS)).total for bonus in (0.7, 0.0)]
    assert losses[0] < losses[1]
    steps = [made.decoder, half(made).decoder]
    plain = model(3, agreement=0.0)
    for one in (made, plain):
        loss(one, batch(ENCODINGS, NUMBERS)).total.backward()
    for mine, other in zip(steps, (plain.decoder, half(plain).decoder), strict=True):
        slope, without = mine.attention.score.v.weight.grad, other.attention.score.v.weight.grad
        assert (slope - without).abs().max() > 1e-6


sizes = st.integers(1, 6)


@given(st.integers(0, 999), sizes, sizes, st.integers(0, 3), st.integers(0, 3))
def test_its_bounds(seed: int, target: int, source: int, more: int, wide: int) -> None:
    """0 ≤ −B ≤ min(S, T), whatever stands in the padding."""
    torch.manual_seed(seed)
    rows, places = torch.arange(target + more) < target, torch.arange(source + wide) < source
    sharp = 3 * torch.randn(2, target + more, source + wide)
    there = sharp[0].masked_fill(~places, -torch.inf).softmax(-1)
    back = sharp[1].masked_fill(~rows[:, None], -torch.inf).softmax(0)
    found = agreed(there[None], back[None], rows[None], places[None])
    assert 0 <= found <= min(source, target) + 1e-5


def test_the_bound_is_reached_by_two_equal_permutations() -> None:
    order = torch.eye(5)[torch.tensor([3, 0, 4, 1, 2])][None]
    everything = torch.ones(1, 5, dtype=torch.bool)
    assert agreed(order, order, everything, everything) == 5
    assert agreed(order, order.roll(1, 2), everything, everything) == 0


def test_turning() -> None:
    source = Padded(torch.tensor([[4, 5, 6], [7, PAD, PAD]]), torch.tensor([3, 1]))
    targets = torch.tensor([[8, END, PAD], [9, 8, END]])
    links = torch.zeros(2, 3, 3)
    links[1, 1, 0] = 1
    read, tokens, wanted = turn(Wanted(targets, 0.1, links, source))
    assert read.data.tolist() == [[8, PAD], [9, 8]]
    assert read.lengths.tolist() == [1, 2]
    assert tokens.tolist() == [[BEGIN, 4, 5, 6], [BEGIN, 7, PAD, PAD]]
    assert wanted.targets.tolist() == [[4, 5, 6, END], [7, END, PAD, PAD]]
    assert wanted.smoothing == 0.1
    assert links_of(wanted.links) == [(1, 0, 1)]


def links_of(links: Tensor | None) -> list[tuple[int, ...]]:
    assert links is not None
    assert links.shape == (2, 4, 2)
    return [tuple(place) for place in links.nonzero().tolist()]


def test_without_agreement_there_is_no_way_back() -> None:
    assert backward_half(model()) is None


def test_features_are_refused() -> None:
    with pytest.raises(UsageError, match="features"):
        model(codec=Codec(CODEC.source, CODEC.target, True, False), agreement=1.0)
