"""Rectangles and the plan of an epoch."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.batching import Batch, Encoding, EpochPlan, Padded, collate, length_buckets, mix, pad
from regard.data.vocabulary import PAD

sizes = st.lists(st.tuples(st.integers(1, 20), st.integers(2, 20)), min_size=1, max_size=60)


def encodings(lengths: list[tuple[int, int]]) -> list[Encoding]:
    return [Encoding([5] * source, [6] * target) for source, target in lengths]


def test_pad_and_mask() -> None:
    found = pad([[4, 5, 6], [7], [8, 9]])
    assert found.data.tolist() == [[4, 5, 6], [7, PAD, PAD], [8, 9, PAD]]
    assert found.lengths.tolist() == [3, 1, 2]
    assert found.mask.tolist() == [[True] * 3, [True, False, False], [True, True, False]]


def test_the_mask_goes_by_lengths_not_by_symbols() -> None:
    """A padding symbol within a sequence is real, another symbol beyond its end is not."""
    assert Padded(torch.tensor([[PAD, 4, 5]]), torch.tensor([2])).mask.tolist() == [[True, True, False]]
    assert Padded(torch.zeros(1, 3, 7), torch.tensor([2])).mask.shape == (1, 3)


def test_collate_keeps_pairs_and_numbers_together() -> None:
    examples = [Encoding([number], [2, 10 * number, 3]) for number in range(5)]
    found = collate(examples, [3, 1])
    assert found.source.data.tolist() == [[3], [1]]
    assert found.target.data.tolist() == [[2, 30, 3], [2, 10, 3]]
    assert found.numbers == [3, 1]


def test_batches_move_as_a_whole() -> None:
    moved = collate(encodings([(2, 3), (1, 2)]), [0, 1]).to(torch.device("meta"))
    assert isinstance(moved, Batch)
    tensors = (*moved.source, *moved.target)
    assert all(tensor.device.type == "meta" for tensor in tensors)


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), max_size=50), st.integers(1, 60), st.integers(1, 9))
def test_buckets_cover_all_in_order_within_both_budgets(lengths: list[int], tokens: int, most: int) -> None:
    lengths.sort()
    cuts = length_buckets(lengths, tokens, most)
    assert [number for cut in cuts for number in cut] == list(range(len(lengths)))
    for cut in cuts:
        assert 1 <= len(cut) <= most
        assert len(cut) == 1 or len(cut) * max(lengths[number] for number in cut) <= tokens


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=50), st.integers(1, 60), st.integers(1, 9))
def test_buckets_are_as_full_as_they_can_be(lengths: list[int], tokens: int, most: int) -> None:
    lengths.sort()
    cuts = length_buckets(lengths, tokens, most)
    for cut, after in itertools.pairwise(cuts):
        assert len(cut) == most or (len(cut) + 1) * lengths[after[0]] > tokens


@settings(deadline=None)
@given(sizes, st.integers(1, 80), st.integers(1, 9), st.integers(0, 2**40), st.integers(0, 1000), st.integers(1, 4))
def test_an_epoch_has_every_example_once(
    lengths: list[tuple[int, int]], tokens: int, most: int, seed: int, epoch: int, window: int
) -> None:
    batches = EpochPlan(encodings(lengths), tokens, most, seed, window).batches(epoch)
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        assert 1 <= len(batch) <= most
        widest = max(max(lengths[number]) for number in batch)
        assert len(batch) == 1 or widest * len(batch) <= tokens


def plan(seed: int) -> EpochPlan:
    return EpochPlan(encodings([(1 + number % 7, 2 + number % 5) for number in range(97)]), 40, 8, seed, window=3)


def test_the_plan_is_a_function_of_seed_and_epoch() -> None:
    one, other = plan(1), plan(1)
    late = other.batches(5)  # asked in another order, after other random numbers
    torch.manual_seed(123)
    assert [one.batches(epoch) for epoch in range(6)][5] == late
    before = torch.get_rng_state()
    one.batches(7)
    assert torch.equal(torch.get_rng_state(), before)


def test_epochs_and_seeds_differ() -> None:
    orders = [str(plan(seed).batches(epoch)) for seed in range(4) for epoch in range(4)]
    assert len(set(orders)) == 16
    contents = [str(sorted(map(sorted, plan(1).batches(epoch)))) for epoch in range(4)]
    assert len(set(contents)) == 4  # not only the order of the batches: who is with whom


def test_examples_of_one_length_are_together() -> None:
    lengths = [(1 + number % 10, 2) for number in range(400)]
    batches = EpochPlan(encodings(lengths), 10**6, 8, seed=1).batches(0)
    padding = sum(max(lengths[n][0] for n in batch) - lengths[number][0] for batch in batches for number in batch)
    assert padding < 0.1 * sum(source for source, _ in lengths)
    assert [max(lengths[n][0] for n in batch) for batch in batches] != sorted(
        max(lengths[n][0] for n in batch) for batch in batches
    )  # yet not the short ones first


def test_where_two_lengths_of_targets_meet_sources_are_of_like_length() -> None:
    """Sources of each length of targets are 1 to 10 long; a batch has the end of one and the beginning of the next."""
    lengths = [(1 + number % 10, 2 + number // 10) for number in range(80)]
    batches = EpochPlan(encodings(lengths), 10**6, 4, seed=1).batches(0)
    mixed = [batch for batch in batches if len({lengths[number][1] for number in batch}) > 1]
    assert len(mixed) == 4
    for batch in mixed:
        sources = [lengths[number][0] for number in batch]
        assert max(sources) - min(sources) == 1


@pytest.mark.parametrize("numbers", [(1, 11), (11, 1), (111,), (0, 0), (-1, 2**60)])
def test_mixed_seeds_are_their_own(numbers: tuple[int, ...]) -> None:
    others = [(1, 11), (11, 1), (111,), (0, 0), (-1, 2**60)]
    assert [mix(*other) == mix(*numbers) for other in others].count(True) == 1
    assert 0 <= mix(*numbers) < 2**56
    torch.Generator().manual_seed(mix(*numbers))
