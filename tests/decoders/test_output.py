"""Every output is its equation."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.decoders.output import OUTPUTS
from tests.tiny import arrays

B, T, H, V, E, R, N = 2, 3, 5, 7, 11, 13, 17
every_output = pytest.mark.parametrize("kind", OUTPUTS)


def parts(context_size: int = V) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    sizes = (H, context_size, E)
    s, c, e = (torch.randn(B, T, size, generator=generator, dtype=torch.float64) for size in sizes)
    return s, c, e


def make(kind: str, context_size: int = V) -> nn.Module:
    torch.manual_seed(0)
    return OUTPUTS[kind](H, context_size, E, R, N).double()


def by_hand(kind: str, output: nn.Module, s: np.ndarray, c: np.ndarray, e: np.ndarray) -> np.ndarray:
    """The readout of one step."""
    if kind == "state":
        return s
    if kind == "plain":
        return np.concatenate([s, c, e])
    if kind == "attentional":
        W_c, b = arrays(output.W_c)
        return np.tanh(W_c @ np.concatenate([c, s]) + b)
    if kind == "deep":
        L_h, b = arrays(output.L_h)
        (L_z,) = arrays(output.L_z)
        return e + L_h @ s + b + L_z @ c
    W, b = arrays(output.parts)
    t = W[:, :H] @ s + W[:, H : H + E] @ e + W[:, H + E :] @ c + b
    return np.array([max(t[2 * i], t[2 * i + 1]) for i in range(R)])


@every_output
def test_is_its_equation(kind: str) -> None:
    output, (s, c, e) = make(kind), parts()
    out, b = arrays(output.O)
    readout = output.readout(s, c, e)
    logits = output.logits(readout)
    assert readout.shape == (B, T, output.size)
    assert logits.shape == (B, T, N)
    for row in range(B):
        for t in range(T):
            expected = by_hand(kind, output, s[row, t].numpy(), c[row, t].numpy(), e[row, t].numpy())
            np.testing.assert_allclose(readout[row, t].detach(), expected, atol=1e-12)
            np.testing.assert_allclose(logits[row, t].detach(), out @ expected + b, atol=1e-12)


@every_output
def test_all_steps_at_once_or_one_by_one(kind: str) -> None:
    output, given = make(kind), parts()
    one_by_one = [
        output.logits(output.readout(*step)) for step in zip(*(part.unbind(1) for part in given), strict=True)
    ]
    torch.testing.assert_close(output.logits(output.readout(*given)), torch.stack(one_by_one, 1), atol=1e-12, rtol=0)


@every_output
def test_works_without_a_context(kind: str) -> None:
    output, given = make(kind, 0), parts(0)
    logits = output.logits(output.readout(*given))
    assert logits.shape == (B, T, N)
    assert all(weight.numel() > 0 for weight in output.parameters())


@every_output
def test_reads_state_and_context(kind: str) -> None:
    """And the last symbol, apart from Luong's; the language model's reads the state alone."""
    output = make(kind)
    given = [part.requires_grad_() for part in parts()]
    output.logits(output.readout(*given)).square().sum().backward()
    reached = [part.grad is not None and bool((part.grad.abs().sum(-1) > 0).all()) for part in given]
    assert reached == [True, kind != "state", kind not in ("state", "attentional")]
