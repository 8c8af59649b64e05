"""Given links join the loss by their weight, and pairs without any change nothing."""

import math

import pytest
import torch

from regard.attention import Encoded
from regard.decoders.supervision import Supervision
from regard.losses import Loss, Wanted

WEIGHTS = torch.tensor([[[0.5, 0.25, 0.25], [0.2, 0.8, 0.0]], [[1.0, 0.0, 0.0], [0.3, 0.7, 0.0]]])
LINKS = torch.tensor([[[1.0, 0, 0], [1, 1, 0]], [[0, 0, 0], [0, 0, 0]]])
TARGETS = torch.tensor([[4, 3], [5, 3]])
ENCODED = Encoded(torch.zeros(2, 3, 1), torch.ones(2, 3, dtype=torch.bool), torch.zeros(2, 1))
BEFORE = Loss(torch.tensor(2.0), torch.tensor(1.5), torch.tensor(4))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("cross-entropy", -math.log(0.5) - 0.5 * math.log(0.2) - 0.5 * math.log(0.8)),
        ("squared", 0.25 + 2 * 0.0625 + 2 * 0.09),
    ],
)
def test_by_hand(kind: str, expected: float) -> None:
    found = Supervision(3.0, kind).join(BEFORE, ENCODED, WEIGHTS, Wanted(TARGETS, 0.0, LINKS))
    assert found.total.item() == pytest.approx(2 + 3 * expected)
    assert (found.nll, found.symbols) == (BEFORE.nll, BEFORE.symbols)


def test_a_batch_without_links_is_left_alone() -> None:
    assert Supervision(3.0, "squared").join(BEFORE, ENCODED, WEIGHTS, Wanted(TARGETS, 0.0)) == BEFORE


def test_half_precision_weights_are_held_against_links_in_full() -> None:
    found = Supervision(1.0, "cross-entropy").join(BEFORE, ENCODED, WEIGHTS.bfloat16(), Wanted(TARGETS, 0.0, LINKS))
    assert found.total.dtype == torch.float32
