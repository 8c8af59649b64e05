"""Each cell is its equation, and torch's own where torch has it."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd import gradcheck

from regard.cells import CELLS, BaseCell, CellState, GRUCell, make_cells
from tests.tiny import arrays, sigmoid

B, T, X, H = 2, 5, 3, 7
Arrays = tuple[NDArray[np.float64], ...]

every_cell = pytest.mark.parametrize("kind", CELLS)


def make(kind: str) -> BaseCell:
    torch.manual_seed(0)
    return CELLS[kind](X, H).double()


def inputs() -> Tensor:
    return torch.randn(B, T, X, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def first(cell: BaseCell) -> CellState:
    generator = torch.Generator().manual_seed(2)
    return tuple(torch.randn(B, H, generator=generator, dtype=torch.float64) for _ in range(cell.parts))


def run(cell: BaseCell) -> list[CellState]:
    states = [first(cell)]
    for x in inputs().unbind(1):
        states.append(cell(cell.drive(x), states[-1]))
    return states[1:]


def by_hand(kind: str, cell: BaseCell, x: NDArray[np.float64], state: Arrays) -> Arrays:
    """One sequence, one step."""
    W, b, U, d = arrays(cell)
    s = state[0]
    if kind == "tanh":
        return (np.tanh(W @ x + b + U @ s + d),)
    if kind == "sigmoid":
        return (sigmoid(W @ x + b + U @ s + d),)
    if kind == "gru":
        (W_r, W_z, W_n), (U_r, U_z, U_n) = np.split(W, 3), np.split(U, 3)
        (b_r, b_z, b_n), (d_r, d_z, d_n) = np.split(b, 3), np.split(d, 3)
        r = sigmoid(W_r @ x + b_r + U_r @ s + d_r)
        z = sigmoid(W_z @ x + b_z + U_z @ s + d_z)
        n = np.tanh(W_n @ x + b_n + r * (U_n @ s + d_n))
        return ((1 - z) * n + z * s,)
    i, f, g, o = np.split(W @ x + b + U @ s + d, 4)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


@every_cell
def test_is_its_equation(kind: str) -> None:
    cell = make(kind)
    found = run(cell)
    for row in range(B):
        state = tuple(part[row].numpy() for part in first(cell))
        for t in range(T):
            state = by_hand(kind, cell, inputs()[row, t].numpy(), state)
            assert len(state) == len(found[t]) == cell.parts
            for expected, part in zip(state, found[t], strict=True):
                np.testing.assert_allclose(part[row].detach(), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["tanh", "gru", "lstm"])
def test_is_torchs_own(kind: str) -> None:
    cell = make(kind)
    theirs = {"tanh": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}[kind](X, H).double()
    with torch.no_grad():
        for name, mine in {"ih": cell.W, "hh": cell.U}.items():
            getattr(theirs, f"weight_{name}").copy_(mine.weight)
            getattr(theirs, f"bias_{name}").copy_(mine.bias)
    state: CellState = first(cell)
    for x, found in zip(inputs().unbind(1), run(cell), strict=True):
        after = theirs(x, state if kind == "lstm" else state[0])
        state = after if kind == "lstm" else (after,)
        for expected, part in zip(state, found, strict=True):
            torch.testing.assert_close(part, expected, atol=1e-12, rtol=0)


@every_cell
@pytest.mark.parametrize("noisy", [False, True])
def test_gradients(kind: str, noisy: bool) -> None:
    cell = make(kind)
    noise = torch.tensor([0.0, 1.25, 1.25, 0.0, 1.25, 1.25, 1.25], dtype=torch.float64).expand(B, H) if noisy else None
    given = [part.requires_grad_() for part in (inputs()[:, 0], *first(cell), *cell.parameters())]

    def step(x: Tensor, *rest: Tensor) -> CellState:
        return cell(cell.drive(x), rest[: cell.parts], noise)

    assert gradcheck(step, given)


@every_cell
def test_all_drives_at_once(kind: str) -> None:
    cell = make(kind)
    one_by_one = torch.stack([cell.drive(x) for x in inputs().unbind(1)], 1)
    assert one_by_one.shape == (B, T, cell.gates * H)
    torch.testing.assert_close(cell.drive(inputs()), one_by_one, atol=1e-12, rtol=0)


@every_cell
def test_noise_is_on_what_the_gates_read(kind: str) -> None:
    """A mask of ones is no mask; a zero hides that number of s_{t-1} from U, and only there."""
    cell, x = make(kind), inputs()[:, 0]
    state = first(cell)
    for found, expected in zip(cell(cell.drive(x), state, torch.ones(B, H)), cell(cell.drive(x), state), strict=True):
        torch.testing.assert_close(found, expected, atol=0, rtol=0)
    noise = torch.ones(B, H, dtype=torch.float64)
    noise[:, 3] = 0
    found = cell(cell.drive(x), state, noise)
    with torch.no_grad():
        cell.U.weight[:, 3] = 0
    for part, expected in zip(found, cell(cell.drive(x), state), strict=True):
        torch.testing.assert_close(part, expected, atol=1e-12, rtol=0)


def test_noise_does_not_act_on_what_a_gru_carries() -> None:
    """With the update gate open the state is copied; masked again and again it would die out or explode."""
    cell = GRUCell(X, H).double()
    with torch.no_grad():
        cell.W.bias[H : 2 * H] = 50
    state = first(cell)
    for x in inputs().unbind(1):
        state = cell(cell.drive(x), state, torch.full((B, H), 2.0))
    torch.testing.assert_close(state, first(cell), atol=1e-12, rtol=0)


def test_a_stack_reads_the_layer_below() -> None:
    cells = make_cells("gru", [X, H, H], H)
    assert [cell.drive(torch.zeros(size)).shape for cell, size in zip(cells, (X, H, H), strict=True)] == [(3 * H,)] * 3
    assert [cell.size for cell in cells] == [H] * 3
