from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.readers import Example
from regard.data.splitting import Grouped, group_references, split_by_source
from regard.errors import DataError, UsageError

rows = st.lists(st.builds(Example, source=st.text("abc", max_size=3), target=st.text("xyz", max_size=2)))
many = rows.filter(lambda examples: len({example.source for example in examples}) > 1)
shares = st.floats(0, 1, exclude_min=True, exclude_max=True)


@given(many, shares, st.integers(), st.integers(0, 50))
def test_no_source_is_on_both_sides_and_no_row_is_lost(
    examples: list[Example], share: float, seed: int, least: int
) -> None:
    train, dev = split_by_source(examples, share, seed, least)
    assert train
    assert dev
    assert not {example.source for example in train} & {example.source for example in dev}
    assert train == [example for example in examples if example in train]
    assert len(train) + len(dev) == len(examples)


@given(many, shares, st.integers(), st.randoms())
def test_the_parts_do_not_depend_on_the_order_of_rows(
    examples: list[Example], share: float, seed: int, random: Random
) -> None:
    shuffled = random.sample(examples, len(examples))
    _, dev = split_by_source(examples, share, seed)
    _, other = split_by_source(shuffled, share, seed)
    assert {example.source for example in dev} == {example.source for example in other}


def test_share_seed_and_least() -> None:
    examples = [Example(f"word {number}", "x") for number in range(1000)]
    _, dev = split_by_source(examples, 0.05, seed=1)
    _, again = split_by_source(examples, 0.05, seed=1)
    _, other = split_by_source(examples, 0.05, seed=2)
    assert len(dev) == 50
    assert dev == again
    assert dev != other
    assert len(split_by_source(examples, 0.05, seed=1, least=200)[1]) == 200


def test_the_choice_is_fixed_for_ever() -> None:
    """A resumed or repeated run must find the same dev part, whatever the process."""
    _, dev = split_by_source([Example(letter, "x") for letter in "abcdefgh"], 0.25, seed=1)
    assert [example.source for example in dev] == ["e", "h"]


def test_one_source_cannot_be_split() -> None:
    with pytest.raises(DataError, match="1 different sources, expected at least 2"):
        split_by_source([Example("a", "x"), Example("a", "y")], 0.5, seed=1)


@pytest.mark.parametrize("share", [0, 1, 5, -0.1, float("nan")])
def test_a_share_is_between_none_and_all(share: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        split_by_source([Example("a", "x"), Example("b", "y")], share, seed=1)


def test_references_of_one_source_and_features_come_together() -> None:
    first, second = Example("read", "r iː d", "PRS", "t, line 1"), Example("lead", "l ɛ d")
    third, fourth = Example("read", "r ɛ d", "PST"), Example("lead", "l iː d")
    examples = [first, second, third, fourth, Example("lead", "l ɛ d")]
    assert group_references(examples) == [
        Grouped(first, ["r iː d"]),
        Grouped(second, ["l ɛ d", "l iː d"]),
        Grouped(third, ["r ɛ d"]),
    ]
