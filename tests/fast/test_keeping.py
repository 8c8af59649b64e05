"""Dropout's masks are the same with and without a compiler, to the last bit: training must not depend on it."""

import pytest
import torch

from regard.fast import keeping, kernels


@pytest.mark.parametrize("count", [1, 7, 64, 1001])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_equals_torch(count: int, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    if kernels.library() is None:
        pytest.skip("this machine has no C compiler")
    draws = torch.randint(-(2**15), 2**15, (count,), dtype=torch.int16)
    given = (round(share * 2**16) - 2**15, 1 / (1 - share), torch.float32)
    by_kernel = keeping.keep(draws, *given)
    monkeypatch.setattr(keeping, "library", lambda: None)
    assert torch.equal(by_kernel, keeping.keep(draws, *given))


def test_what_is_kept() -> None:
    draws = torch.tensor([-(2**15), -1, 0, 1, 2**15 - 1], dtype=torch.int16)
    assert keeping.keep(draws, 0, 2.0, torch.float32).tolist() == [0, 0, 2, 2, 2]
    assert keeping.keep(draws, -(2**15), 1.0, torch.float64).tolist() == [1, 1, 1, 1, 1]
