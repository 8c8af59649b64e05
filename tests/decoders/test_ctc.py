"""CTC against all ways of writing, counted one by one."""

from itertools import groupby, product

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from regard.attention.memory import Encoded
from regard.data.vocabulary import END, PAD
from regard.decoders.ctc import CTC, FRAMES
from regard.losses import Loss, Wanted
from regard.tasks.reranking import Frames, ctc_log_probs
from tests.tiny import padded

SYMBOLS = 7
ANSWERS = [[4], [5, 5], [4, 6, 4], [], [6, 6, 6], [4, 5, 6, 4, 5, 6, 4]]


def counted(log_probs: Tensor, answer: list[int]) -> float:
    """log Σ_π Π_f p(π_f), π over everything that could stand on the frames (F, N)."""
    total = 0.0
    for path in product(range(SYMBOLS), repeat=len(log_probs)):
        if [symbol for symbol, _ in groupby(path) if symbol != PAD] == answer:
            total += float(torch.exp(sum(log_probs[frame, symbol] for frame, symbol in enumerate(path))))
    return float(np.log(total)) if total else -np.inf


@pytest.mark.parametrize("answer", ANSWERS[:5], ids=str)
def test_equals_the_sum_over_all_ways(answer: list[int]) -> None:
    torch.manual_seed(0)
    log_probs = torch.randn(1, 5, SYMBOLS, dtype=torch.float64).log_softmax(-1)
    found = ctc_log_probs(Frames(log_probs.numpy(), np.array([5])), np.array([0]), [answer])
    assert found.item() == pytest.approx(counted(log_probs[0], answer), abs=1e-12)


def test_equals_torch_for_many_at_once() -> None:
    """Of answers of many lengths to sources of many lengths, in any order; what is beyond an end says nothing."""
    torch.manual_seed(1)
    log_probs, lengths = torch.randn(3, 12, SYMBOLS, dtype=torch.float64).log_softmax(-1), torch.tensor([12, 7, 3])
    sources = torch.tensor([2, 0, 1, 1, 0, 0])
    found = ctc_log_probs(Frames(log_probs.numpy(), lengths.numpy()), sources.numpy(), ANSWERS)
    targets = padded(*(answer or [PAD] for answer in ANSWERS)).data
    each = torch.tensor([len(answer) for answer in ANSWERS])
    given = (log_probs[sources].transpose(0, 1), targets, lengths[sources], each)
    np.testing.assert_allclose(found, -functional.ctc_loss(*given, blank=PAD, reduction="none"), atol=1e-12)
    longer = np.concatenate([log_probs.numpy(), np.zeros((3, 4, SYMBOLS))], 1)
    np.testing.assert_allclose(ctc_log_probs(Frames(longer, lengths.numpy()), sources.numpy(), ANSWERS), found)


def test_what_does_not_fit_is_impossible() -> None:
    """Two equal symbols need a blank between them."""
    frames = Frames(np.log(np.full((1, 2, SYMBOLS), 1 / SYMBOLS)), np.array([2]))
    assert ctc_log_probs(frames, np.array([0, 0]), [[4, 5, 6], [4, 4]]).tolist() == [-np.inf, -np.inf]


def encoded(*lengths: int) -> Encoded:
    torch.manual_seed(2)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return Encoded(torch.randn(*mask.shape, 3, dtype=torch.float64), mask, torch.zeros(len(lengths), 3))


def joined(ctc: CTC, source: Encoded, targets: Tensor) -> float:
    ones = torch.ones((), dtype=torch.float64)
    loss = ctc.join(Loss(10 * ones, ones, ones), source, None, Wanted(targets, 0.0))
    assert (loss.nll, loss.symbols) == (1, 1)
    return loss.total.item()


def test_the_joint_loss_is_a_mixture() -> None:
    """By the frames of each source alone, END and padding not counted."""
    ctc, source = CTC(3, SYMBOLS, 0.3).double(), encoded(2, 1)
    targets = torch.tensor([[4, 5, 5, END], [6, END, PAD, PAD]])
    log_probs = ctc(source).detach()
    assert log_probs.shape == (2, 2 * FRAMES, SYMBOLS)
    said = counted(log_probs[0], [4, 5, 5]) + counted(log_probs[1, :FRAMES], [6])
    assert joined(ctc, source, targets) == pytest.approx(0.7 * 10 - 0.3 * said)


def test_a_target_too_long_for_its_source_costs_nothing() -> None:
    ctc = CTC(3, SYMBOLS, 0.3).double()
    assert joined(ctc, encoded(1), torch.tensor([[4, 5, 6, 4, END]])) == pytest.approx(7)
