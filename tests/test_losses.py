"""Losses against torch and by hand."""

import math

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.nn import functional

from regard.data.vocabulary import PAD
from regard.losses import Loss, Wanted, cross_entropy, readout_cross_entropy, sequence_log_probs, supervised_attention

B, T, N = 3, 5, 7
TARGETS = torch.tensor([[4, 2, 6, 3, 1], [5, 3, PAD, PAD, PAD], [1, 1, 4, 3, PAD]])
every_smoothing = pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])


def logits() -> Tensor:
    torch.manual_seed(0)
    return 3 * torch.randn(B, T, N, dtype=torch.float64)


@every_smoothing
def test_equals_torchs(smoothing: float) -> None:
    real = TARGETS != PAD
    expected = functional.cross_entropy(logits()[real], TARGETS[real], label_smoothing=smoothing, reduction="sum")
    found = cross_entropy(logits(), TARGETS, smoothing)
    torch.testing.assert_close(found.total, expected, atol=1e-12, rtol=0)
    assert found.symbols == 11


def test_by_hand() -> None:
    """Two symbols, p = (3/4, 1/4): −log 1/4, and smoothed by ε = 1/2 half of it and half of the mean of both."""
    one = torch.tensor([[[math.log(3.0), 0.0]]])
    found = cross_entropy(one, torch.tensor([[1]]), 0.5)
    assert found.nll.item() == pytest.approx(math.log(4))
    assert found.total.item() == pytest.approx(0.5 * math.log(4) + 0.25 * (math.log(4) + math.log(4 / 3)))


def test_each_sequence_by_itself() -> None:
    found = sequence_log_probs(logits(), TARGETS)
    log_probs = logits().log_softmax(-1)
    for row, length in enumerate((5, 2, 4)):
        expected = sum(float(log_probs[row, t, TARGETS[row, t]]) for t in range(length))
        assert found[row].item() == pytest.approx(expected)
    assert -found.sum().item() == pytest.approx(cross_entropy(logits(), TARGETS).nll.item())


@every_smoothing
def test_nll_is_never_smoothed(smoothing: float) -> None:
    plain = cross_entropy(logits(), TARGETS)
    found = cross_entropy(logits(), TARGETS, smoothing)
    assert found.nll == plain.total
    assert not found.nll.requires_grad


@every_smoothing
def test_padding_costs_nothing_and_sends_nothing_back(smoothing: float) -> None:
    given = logits().requires_grad_()
    cross_entropy(given, TARGETS, smoothing).total.backward()
    assert given.grad is not None
    assert (given.grad[TARGETS == PAD] == 0).all()
    assert (given.grad[TARGETS != PAD] != 0).all()
    other = torch.where((TARGETS == PAD)[:, :, None], 100 * torch.rand(B, T, N).double(), logits())
    assert cross_entropy(other, TARGETS, smoothing).total == cross_entropy(logits(), TARGETS, smoothing).total


@every_smoothing
def test_a_batch_split_adds_up(smoothing: float) -> None:
    whole = cross_entropy(logits(), TARGETS, smoothing)
    parts = [cross_entropy(logits()[row : row + 1], TARGETS[row : row + 1], smoothing) for row in range(B)]
    for one, several in zip(whole, Loss(*map(sum, zip(*parts, strict=True))), strict=True):
        torch.testing.assert_close(one, several)


@every_smoothing
def test_gradients(smoothing: float) -> None:
    assert gradcheck(lambda given: cross_entropy(given, TARGETS, smoothing).total, logits().requires_grad_())


def test_half_precision_is_summed_in_full() -> None:
    """256 + ½ is 256 in bf16."""
    exact = cross_entropy(torch.zeros(1, 1000, 2), torch.ones(1, 1000, dtype=torch.long))
    coarse = cross_entropy(torch.zeros(1, 1000, 2, dtype=torch.bfloat16), torch.ones(1, 1000, dtype=torch.long))
    assert coarse.total.dtype == torch.float32
    assert coarse.total.item() == pytest.approx(exact.total.item())
    assert exact.total.item() == pytest.approx(1000 * math.log(2))


WEIGHTS = torch.tensor([[[0.5, 0.25, 0.25], [0.125, 0.5, 0.375], [0.2, 0.2, 0.6]]], dtype=torch.float64)
GIVEN = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]], dtype=torch.float64)  # the last: no link


def test_supervised_cross_entropy_by_hand() -> None:
    expected = -math.log(0.5) - 0.5 * math.log(0.5) - 0.5 * math.log(0.375)
    assert supervised_attention(WEIGHTS, GIVEN).item() == pytest.approx(expected)


def test_supervised_squares_by_hand() -> None:
    expected = (0.25 + 0.0625 + 0.0625) + (0.125**2 + 0 + 0.125**2)
    assert supervised_attention(WEIGHTS, GIVEN, "squared").item() == pytest.approx(expected)


both_kinds = pytest.mark.parametrize("kind", ["cross-entropy", "squared"])


@both_kinds
@pytest.mark.parametrize("factor", [0.25, 7.0])
def test_links_count_by_their_share(kind: str, factor: float) -> None:
    expected = supervised_attention(WEIGHTS, GIVEN, kind).item()
    assert supervised_attention(WEIGHTS, factor * GIVEN, kind).item() == pytest.approx(expected)


@both_kinds
def test_gradient_reaches_linked_rows_only(kind: str) -> None:
    energy = WEIGHTS.log().requires_grad_()
    supervised_attention(energy.softmax(-1), GIVEN, kind).backward()
    assert energy.grad is not None
    assert (energy.grad[0, :2].abs().sum(-1) > 1e-3).all()
    assert (energy.grad[0, 2] == 0).all()
    assert energy.grad[0, 0, 0] < 0 < energy.grad[0, 0, 1]  # more weight on the link, less beside it


@both_kinds
def test_a_link_without_weight_costs_a_finite_price(kind: str) -> None:
    weights = torch.tensor([[[0.0, 1.0, 0.0]]], requires_grad=True)
    price = supervised_attention(weights, torch.tensor([[[1.0, 0.0, 0.0]]]), kind)
    price.backward()
    assert price.item() == pytest.approx(2.0 if kind == "squared" else 8 * math.log(10))
    assert weights.grad is not None
    assert weights.grad.isfinite().all()


@both_kinds
def test_least_where_the_weights_are_the_links(kind: str) -> None:
    best = supervised_attention(torch.tensor([[[0.5, 0.5, 0.0]]]), torch.tensor([[[1.0, 1.0, 0.0]]]), kind)
    assert best.item() == pytest.approx(0.0 if kind == "squared" else math.log(2))
    other = supervised_attention(torch.tensor([[[0.6, 0.4, 0.0]]]), torch.tensor([[[1.0, 1.0, 0.0]]]), kind)
    assert other > best


@pytest.mark.parametrize("spelling", [torch.float64, torch.float32, None], ids=["double", "kernels", "torch"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("chunk", [1, 2 * N, 3 * N + 1, 1 << 20])
@pytest.mark.parametrize("worth", [0, 1000])
@pytest.mark.parametrize("time_first", [False, True])
def test_the_loss_from_readouts_is_that_of_their_logits(
    monkeypatch: pytest.MonkeyPatch,
    time_first: bool,
    worth: int,
    chunk: int,
    smoothing: float,
    spelling: torch.dtype | None,
) -> None:
    """Whatever the size of the chunks, with padding and without, however readouts lie in memory, and with gradients of
    all three inputs."""
    monkeypatch.setattr("regard.fast.cross_entropy.CHUNK", chunk)
    monkeypatch.setattr("regard.fast.cross_entropy.WORTH", worth)
    if spelling is None:
        monkeypatch.setattr("regard.fast.cross_entropy.fits", lambda readouts: False)
    torch.manual_seed(0)
    output = torch.nn.Linear(5, N).to(spelling)
    readouts = torch.randn(*TARGETS.shape, 5, dtype=spelling)
    readouts = (readouts.transpose(0, 1).contiguous().transpose(0, 1) if time_first else readouts).requires_grad_()
    inputs = [readouts, output.weight, output.bias]
    found = readout_cross_entropy(readouts, output, Wanted(TARGETS, smoothing))
    wanted = cross_entropy(output(readouts), TARGETS, smoothing)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)
    slopes = [torch.autograd.grad(3 * loss.total, inputs) for loss in (found, wanted)]
    for one, other in zip(*slopes, strict=True):
        torch.testing.assert_close(one, other)
    assert not found.nll.requires_grad


def test_readouts_that_are_all_padding_cost_nothing() -> None:
    output = torch.nn.Linear(5, N)
    found = readout_cross_entropy(torch.randn(2, 3, 5), output, Wanted(torch.full((2, 3), PAD), 0.1))
    found.total.backward()
    assert found.total == found.nll == found.symbols == 0
    assert output.weight.grad is not None
    assert output.weight.grad.count_nonzero() == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_readout_that_is_no_number_is_no_loss(bad: float) -> None:
    """Else training would go on with it."""
    readouts = torch.full((1, 1, 5), bad)
    found = readout_cross_entropy(readouts, torch.nn.Linear(5, N), Wanted(torch.tensor([[4]]), 0.0))
    assert not found.nll.isfinite()


def test_the_loss_from_readouts_has_one_backward() -> None:
    found = readout_cross_entropy(torch.randn(1, 1, 5), torch.nn.Linear(5, N), Wanted(torch.tensor([[4]]), 0.0))
    found.total.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="once"):
        found.total.backward()
