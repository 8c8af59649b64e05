"""Steps by kernels.c against torch's own optimisers and its clipping."""

from contextlib import nullcontext

import pytest
import torch
from torch import nn

from regard.fast import kernels
from regard.fast.adam import fast_adam, step
from regard.fast.switch import plain

pytestmark = pytest.mark.skipif(kernels.library() is None, reason="this machine has no C compiler")
SHAPES = [(300, 200), (7,), (4, 5), (1,), (2, 3, 4)]  # one is large enough for several threads
RULES = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}


def weights() -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(3)
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]


@pytest.mark.parametrize("longest", [0.0, 1.0, 1e6])
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("rule", RULES)
def test_it_steps_as_torch_does(rule: str, decay: float, longest: float) -> None:
    """Over steps whose gradients are long and short, at a rate that changes, where one weight learns only sometimes."""
    torch.manual_seed(7)
    ours, theirs = weights(), weights()
    mine, reference = (RULES[rule](some, weight_decay=decay, fused=True) for some in (ours, theirs))
    fast = fast_adam(mine)
    assert fast is not None
    for number in range(12):
        for optimiser in (mine, reference):
            optimiser.param_groups[0]["lr"] = 0.01 / (1 + number)
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if place == 1 and number % 3 == 0:
                one.grad = other.grad = None
                continue
            one.grad = torch.randn_like(one) * (1e-4 if number % 2 else 10.0)
            other.grad = one.grad.clone()
        length = fast.length()
        assert length == pytest.approx(float(nn.utils.clip_grad_norm_(theirs, longest or float("inf"))), rel=1e-6)
        fast.step(length, longest)
        reference.step()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=5e-5, rtol=1e-5)  # where decay and gradient cancel; steps are 1e-3
        for kind, kept in reference.state[other].items():
            torch.testing.assert_close(mine.state[one][kind], kept, atol=1e-6, rtol=1e-5)


def test_a_gradient_that_is_no_number_has_no_length() -> None:
    some = weights()
    fast = fast_adam(torch.optim.Adam(some))
    assert fast is not None
    for one in some:
        one.grad = torch.zeros_like(one)
    assert fast.length() == 0
    some[2].grad = torch.full_like(some[2], float("nan"))
    assert fast.length() != fast.length()


def test_others_see_that_weights_have_changed() -> None:
    """What is arranged for search is kept for as long as no weight has another version."""
    some = weights()
    fast = fast_adam(torch.optim.Adam(some))
    assert fast is not None
    before = [one._version for one in some]
    for one in some[1:]:
        one.grad = torch.ones_like(one)
    fast.step(fast.length(), 1.0)
    after = [one._version for one in some]
    assert after[0] == before[0]
    assert all(now > then for now, then in zip(after[1:], before[1:], strict=True))


@pytest.mark.parametrize("reference", [False, True])
def test_a_step_is_the_same_by_both_paths(reference: bool) -> None:
    """Adam's first step is the rate; w² falls by twice of it at first."""
    (one,) = some = [nn.Parameter(torch.tensor([3.0, -2.0]))]
    optimiser = torch.optim.Adam(some, lr=0.01, fused=True)
    with plain() if reference else nullcontext():
        assert (fast_adam(optimiser) is None) == reference
        one.square().sum().backward()
        step(optimiser, 1.0)
    torch.testing.assert_close(one.data, torch.tensor([2.99, -1.99]))


def test_what_no_kernel_knows_stays_with_torch() -> None:
    assert fast_adam(torch.optim.SGD(weights(), lr=0.1)) is None
    assert fast_adam(torch.optim.Adam(weights(), amsgrad=True)) is None
    assert fast_adam(torch.optim.Adam([nn.Parameter(torch.zeros(2, dtype=torch.float64))])) is None
    assert fast_adam(torch.optim.Adam([nn.Parameter(torch.zeros(3, 2).t())])) is None
