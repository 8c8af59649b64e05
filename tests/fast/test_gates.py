"""Gates by hand: what test_parity does not reach."""

import pytest
import torch

from regard.fast.gates import gru, lstm


@pytest.mark.parametrize("size", [1, 7, 64])
def test_gates_far_out_stay_numbers(size: int) -> None:
    """σ and tanh at ±1e4 and beyond are 0, ±1 and have no gradient."""
    driven = torch.tensor([-1e30, -1e4, -90.0, 0.0, 90.0, 1e4, 1e30])[:, None].expand(-1, 4 * size).clone()
    driven.requires_grad_()
    state, carry = lstm(driven, torch.ones(7, size))
    wanted = torch.tensor([0.0, 0.0, 0.0, 0.5, 2.0, 2.0, 2.0])[:, None].expand(-1, size)
    torch.testing.assert_close(carry, wanted, atol=1e-6, rtol=0)
    (state.sum() + carry.sum()).backward()
    assert driven.grad is not None
    assert driven.grad.isfinite().all()
    recurred = torch.zeros(7, 3 * size)
    assert gru(driven.detach()[:, : 3 * size].clone(), recurred, torch.ones(7, size)).isfinite().all()
