"""How weights lie for the products of kernels.c: panels of outputs side by side, zero beyond the last."""

import pytest
import torch
from torch import Tensor

from regard.fast import kernels
from regard.fast.packed import Steps, packed, panel

pytestmark = pytest.mark.skipif(kernels.library() is None, reason="this machine has no C compiler")


def by_hand(weight: Tensor) -> list[float]:
    outputs, inputs = weight.shape
    return [
        float(weight[first + lane, i]) if first + lane < outputs else 0.0
        for first in range(0, outputs, panel())
        for i in range(inputs)
        for lane in range(panel())
    ]


@pytest.mark.parametrize("outputs", [1, 7, 32, 33, 67])
@pytest.mark.parametrize("inputs", [1, 5, 8, 16, 37])
@pytest.mark.parametrize("turned", [False, True])
def test_every_weight_stands_in_its_place(outputs: int, inputs: int, turned: bool) -> None:
    weight = torch.randn(inputs, outputs).t() if turned else torch.randn(outputs, inputs)
    assert packed(weight).tolist() == by_hand(weight)


def test_of_a_larger_one_a_part() -> None:
    weight = torch.randn(41, 50)[3:38, 7:30]
    assert packed(weight).tolist() == by_hand(weight)


@pytest.mark.parametrize("outputs", [32, 37])
def test_several_lie_as_if_they_were_one(outputs: int) -> None:
    """Whether the first fills its panels or not."""
    first, second = torch.randn(outputs, 11), torch.randn(19, 11)
    assert packed(first, second).tolist() == by_hand(torch.cat([first, second]))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [1, 5, 13, 64])
@pytest.mark.parametrize("inputs", [11, 256, 257, 700])  # and more than stay in L1
def test_a_step_adds_its_product(inputs: int, rows: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    weight, x, onto = torch.randn(37, inputs) / inputs, torch.randn(rows, inputs), torch.randn(rows, 37)
    wanted = onto + x @ weight.t()
    step = Steps(weight)
    assert (step.packed is None) == (threads > 1)
    step(x, onto)
    torch.testing.assert_close(onto, wanted, atol=1e-5, rtol=1e-5)
