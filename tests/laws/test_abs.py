"""A decoder without recurrence keeps the laws that all decoders keep."""

import pytest
import torch

from regard.data.batching import Padded
from regard.tasks.sequence import batch, encode, loss
from tests.laws.test_batch_invariance import NUMBERS, OTHER_SEARCHES, SEARCHES, check
from tests.tiny import CODEC, EXAMPLES, model

ABS = {"attention": "abs", "window": 1, "order": 3}
ENCODINGS = encode(CODEC, EXAMPLES)


@pytest.mark.parametrize("search", [*SEARCHES, *OTHER_SEARCHES])
def test_batch_mates_change_no_answer(search: str) -> None:
    check([model(1, **ABS)], {**SEARCHES, **OTHER_SEARCHES}[search])


def test_it_answers_together_with_others() -> None:
    check([model(1, **ABS), model(2)], SEARCHES["beam"])


@pytest.mark.parametrize("own", [0.0, 1.0])
def test_the_loss_of_a_batch_is_the_sum_of_its_examples(own: float) -> None:
    made = model(5, **ABS)
    alone = [loss(made, batch(ENCODINGS, [number]), 0.1, own) for number in NUMBERS]
    found = loss(made, batch(ENCODINGS, NUMBERS), 0.1, own)
    assert found.total.item() == pytest.approx(sum(one.total.item() for one in alone), abs=1e-9)


@torch.no_grad()
def test_what_is_beyond_the_end_changes_nothing() -> None:
    made = model(6, **ABS)
    source, target, *_ = batch(ENCODINGS, NUMBERS)
    longer = torch.nn.functional.pad(source.data, (0, 3))
    garbage = torch.where(Padded(longer, source.lengths).mask, longer, torch.randint_like(longer, 1, 10))
    places, reads = source.data.size(1), target.data[:, :-1]
    plain = made(source, reads)
    for data in (longer, garbage):
        found = made(Padded(data, source.lengths), reads)
        torch.testing.assert_close(found.logits, plain.logits, atol=1e-10, rtol=0)
        torch.testing.assert_close(found.weights[:, :, :places], plain.weights, atol=1e-10, rtol=0)
        assert (found.weights[:, :, places:] == 0).all()
