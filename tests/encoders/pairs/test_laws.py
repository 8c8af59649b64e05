"""What holds for every reader of pairs: padding, batch mates and order change nothing; all it has learns."""

import pytest
import torch
from torch.autograd import gradcheck

from regard.data.batching import Padded
from tests.encoders.pairs.readers import HYPOTHESES, PREMISES, READERS, ROWS, hypotheses, make, premises

every = pytest.mark.parametrize("name", READERS)


def rows(padded: Padded, numbers: list[int]) -> Padded:
    """Some of the texts, in a rectangle no wider than they need."""
    lengths = padded.lengths[numbers]
    return Padded(padded.data[numbers, : int(lengths.max())], lengths)


@every
@pytest.mark.parametrize("filler", [0.0, 100.0])
def test_padding_on_either_side_changes_nothing(name: str, filler: float) -> None:
    reader = make(name)
    tight, wide = reader(premises(), hypotheses()), reader(premises(2, filler), hypotheses(3, filler))
    torch.testing.assert_close(wide.vector, tight.vector, atol=1e-12, rtol=0)
    high, broad = tight.over_premise.shape[1:]
    torch.testing.assert_close(wide.over_premise[:, :high, :broad], tight.over_premise, atol=1e-12, rtol=0)
    assert not wide.over_premise[:, high:].any()
    assert not wide.over_premise[:, :, broad:].any()


@every
def test_batch_mates_and_order_change_nothing(name: str) -> None:
    reader = make(name)
    together = reader(premises(), hypotheses())
    backwards = reader(rows(premises(), [2, 1, 0]), rows(hypotheses(), [2, 1, 0]))
    torch.testing.assert_close(backwards.vector.flip(0), together.vector, atol=1e-12, rtol=0)
    for number in range(3):
        alone = reader(rows(premises(), [number]), rows(hypotheses(), [number]))
        torch.testing.assert_close(alone.vector[0], together.vector[number], atol=1e-12, rtol=0)
        high, broad = alone.over_premise.shape[1:]
        torch.testing.assert_close(
            alone.over_premise[0], together.over_premise[number, :high, :broad], atol=1e-12, rtol=0
        )


@every
def test_weights_sum_to_one_over_what_is_read(name: str) -> None:
    reader = make(name)
    paired = reader(premises(1), hypotheses(1))
    real = {"premise": premises(1).mask, "hypothesis": hypotheses(1).mask}
    looks = [(paired.over_premise, "premise", "hypothesis"), (paired.over_hypothesis, "hypothesis", "premise")]
    for weights, read, reads in looks[: 1 if name == "words" else 2]:
        assert weights is not None
        wanted = real[reads].double() if reader.rows == 0 else torch.ones(3, ROWS).double()
        torch.testing.assert_close(weights.sum(-1), wanted)
        assert not weights.transpose(1, 2)[~real[read]].any()


@every
def test_size_is_the_size_of_the_vector(name: str) -> None:
    reader = make(name)
    assert reader(premises(), hypotheses()).vector.shape == (len(PREMISES), reader.size)


@every
def test_gradient(name: str) -> None:
    reader = make(name)
    one, other = premises().data.requires_grad_(), hypotheses().data.requires_grad_()
    parameters = list(reader.parameters())
    assert gradcheck(
        lambda p, h, *_: reader(Padded(p, PREMISES), Padded(h, HYPOTHESES)).vector,
        (one, other, *parameters),
        fast_mode=True,
    )


@every
def test_every_parameter_matters(name: str) -> None:
    reader = make(name)
    vector = reader(premises(), hypotheses()).vector
    total = (vector * torch.randn(vector.shape, generator=torch.Generator().manual_seed(3))).sum()
    gradients = torch.autograd.grad(total, list(reader.parameters()))
    assert all(gradient.abs().max() > 0 for gradient in gradients)
