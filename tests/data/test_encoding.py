"""Which examples share a batch."""

import random

from regard.data.batching import EpochPlan
from regard.data.encoding import Encoding


class Seen:
    """A picture of so many places."""

    def __init__(self, places: int):
        self.places = places

    def __len__(self) -> int:
        return self.places


def padding(examples: list[Encoding], side: str) -> float:
    """How much larger the rectangles of all batches are than what stands in them."""
    lengths = [len(getattr(one, side)) for one in examples]
    batches = EpochPlan(examples, 10**6, 32, seed=1).batches(1)
    return sum(max(lengths[number] for number in batch) * len(batch) for batch in batches) / sum(lengths)


def test_pictures_of_about_one_size_share_a_batch() -> None:
    """A formula of few symbols may be as wide as one of many: sorted by symbols, half of all pixels were padding."""
    draw = random.Random(1)
    pairs = [(draw.randint(4, 160), draw.randint(3, 60)) for _ in range(3000)]
    seen = [Encoding(Seen(places), [0] * symbols) for places, symbols in pairs]
    assert padding(seen, "source") < 1.2
    assert padding(seen, "target") < 1.6  # to and fro: within one size targets are sorted too
    read = [Encoding([0] * places, [0] * symbols) for places, symbols in pairs]
    assert padding(read, "target") < 1.1  # of texts the target comes first


def test_pictures_of_one_size_are_sorted_by_target() -> None:
    draw = random.Random(2)
    seen = [Encoding(Seen(49), [0] * draw.randint(3, 60)) for _ in range(3000)]
    assert padding(seen, "target") < 1.05
