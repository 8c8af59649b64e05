"""The LSTMN is its equation, and never looks at the padding."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import gradcheck

from regard.data.batching import Padded
from regard.dropout import Dropout
from regard.encoders.lstmn import LSTMNCell, LSTMNEncoder
from tests.tiny import arrays, sigmoid, softmax

B, S, E, H, A = 3, 7, 5, 2, 11
LENGTHS = torch.tensor([3, 7, 1])
REAL = torch.arange(S) < LENGTHS[:, None]
Array = NDArray[np.float64]

both_ways = pytest.mark.parametrize("bidirectional", [False, True])
deep = pytest.mark.parametrize("layers", [1, 2])


def encoder(bidirectional: bool, layers: int = 1, carries: bool = False) -> LSTMNEncoder:
    torch.manual_seed(0)
    return LSTMNEncoder(E, H, A, layers, bidirectional, carries=carries).double()


def vectors() -> Tensor:
    return torch.randn(B, S, E, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def by_hand(cell: LSTMNCell, inputs: Array) -> list[Array]:
    """[h_t; c_t] of one sequence."""
    W_h, b_h, W_x, W_last, v = arrays(cell.attention)
    W, b, U, d = arrays(cell.cell)
    tape: list[Array] = []
    last = np.zeros(H)
    for x in inputs:
        recalled = np.zeros(2 * H)
        if tape:
            energies = [v[0] @ np.tanh(W_h @ entry[:H] + b_h + W_x @ x + W_last @ last) for entry in tape]
            recalled = softmax(np.array(energies)) @ np.array(tape)
        last, carry = recalled[:H], recalled[H:]
        i, f, g, o = np.split(W @ x + b + U @ last + d, 4)
        c = sigmoid(f) * carry + sigmoid(i) * np.tanh(g)
        tape.append(np.concatenate([sigmoid(o) * np.tanh(c), c]))
    return tape


@both_ways
def test_is_its_equation(bidirectional: bool) -> None:
    made = encoder(bidirectional, carries=True)
    encoded = made(Padded(vectors(), LENGTHS))
    width = H * (1 + bidirectional)
    assert encoded.values.shape == (B, S, 2 * width)
    for row, length in enumerate(LENGTHS.tolist()):
        for direction, cell in enumerate(made.layers[0].cells):
            inputs = vectors()[row, :length].numpy()
            tape = by_hand(cell, inputs[:: 1 - 2 * direction])
            state, carry = (slice(first + direction * H, first + direction * H + H) for first in (0, width))
            for part, half in ((state, slice(H)), (carry, slice(H, None))):
                read = np.array(tape)[:: 1 - 2 * direction, half]
                np.testing.assert_allclose(encoded.values[row, :length, part].detach(), read, atol=1e-12)
                np.testing.assert_allclose(encoded.summary[row, part].detach(), tape[-1][half], atol=1e-12)


def test_carries_are_beside_the_states() -> None:
    plain, both = (encoder(True, 2, carries)(Padded(vectors(), LENGTHS)) for carries in (False, True))
    torch.testing.assert_close(both.values[:, :, : 2 * H], plain.values)
    torch.testing.assert_close(both.summary[:, : 2 * H], plain.summary)
    assert (both.values[:, :, 2 * H :][REAL] != 0).all()


@both_ways
@deep
def test_padding_changes_nothing(bidirectional: bool, layers: int) -> None:
    """Other lengths of padding, other vectors in it, no batch mates: values and summary stay."""
    made = encoder(bidirectional, layers, carries=True)
    encoded = made(Padded(vectors(), LENGTHS))
    assert encoded.mask.equal(REAL)
    assert (encoded.values[~REAL] == 0).all()
    longer = torch.cat([vectors(), torch.zeros(B, 4, E)], 1)
    garbage = torch.where(REAL[:, :, None], vectors(), 1e3 * torch.randn(B, S, E))
    for other in (made(Padded(longer, LENGTHS)), made(Padded(garbage, LENGTHS))):
        torch.testing.assert_close(other.values[:, :S], encoded.values, atol=1e-12, rtol=0)
        torch.testing.assert_close(other.summary, encoded.summary, atol=1e-12, rtol=0)
        assert (other.values[:, S:] == 0).all()
    for row, length in enumerate(LENGTHS.tolist()):
        alone = made(Padded(vectors()[row : row + 1, :length], LENGTHS[row : row + 1]))
        torch.testing.assert_close(alone.values[0], encoded.values[row, :length], atol=1e-12, rtol=0)
        torch.testing.assert_close(alone.summary[0], encoded.summary[row], atol=1e-12, rtol=0)


@both_ways
@deep
def test_no_gradient_reaches_padding(bidirectional: bool, layers: int) -> None:
    given = vectors().requires_grad_()
    encoded = encoder(bidirectional, layers)(Padded(given, LENGTHS))
    (encoded.values.sum() + encoded.summary.sum()).backward()
    assert given.grad is not None
    assert (given.grad[~REAL] == 0).all()
    assert (given.grad[REAL] != 0).all()


@both_ways
def test_each_place_sees_what_its_directions_have_read(bidirectional: bool) -> None:
    made = encoder(bidirectional)
    before = made(Padded(vectors(), torch.full((B,), S))).values
    for j in range(S):
        changed = vectors()
        changed[:, j] += 1
        moved = (made(Padded(changed, torch.full((B,), S))).values - before).abs().amax((0, 2)) > 1e-12
        assert moved.tolist() == [bidirectional or place >= j for place in range(S)]


def test_an_empty_sequence_has_a_summary_of_zeros() -> None:
    encoded = encoder(True)(Padded(vectors(), torch.tensor([3, 0, 1])))
    assert (encoded.summary[1] == 0).all()
    assert (encoded.summary[[0, 2]] != 0).all()


@pytest.mark.parametrize("fusing", [False, True])
def test_gradients_of_the_cell(fusing: bool) -> None:
    torch.manual_seed(0)
    cell = LSTMNCell(E, H, A).double()
    fused = vectors()[:, 3, :H].clone().requires_grad_() if fusing else None

    def steps(x: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        state = cell.blank(x)
        for one in x.unbind(1):
            state = cell(cell.drive(one), state, None, rest[0] if fusing else None).after
        return state.tape.entries, state.last

    more = [] if fused is None else [fused]
    assert gradcheck(steps, [vectors()[:, :3].clone().requires_grad_(), *more, *cell.parameters()])


def test_gathered_gradients_are_those_of_the_plain_loop() -> None:
    """In single precision the encoder's loop puts the gradients of its weights off to its end."""
    made, plain = encoder(True).float(), encoder(True)
    for one, dtype in ((made, torch.float32), (plain, torch.float64)):
        encoded = one(Padded(vectors().to(dtype), LENGTHS))
        (encoded.values.square().sum() + encoded.summary.sum()).backward()
    for (name, mine), theirs in zip(made.named_parameters(), plain.parameters(), strict=True):
        assert mine.grad is not None
        torch.testing.assert_close(mine.grad.double(), theirs.grad, atol=1e-5, rtol=1e-4, msg=name)


def test_dropout_is_on_the_input_and_after_every_layer() -> None:
    counted: list[tuple[int, ...]] = []

    class Counting(Dropout):
        def forward(self, vectors: Tensor, mask: Tensor | None = None) -> Tensor:
            counted.append(tuple(vectors.shape))
            return super().forward(vectors, mask)

    LSTMNEncoder(E, H, A, 2, dropout=Counting(0.5), carries=True)(Padded(vectors().float(), LENGTHS))
    assert counted == [(B, S, E), (B, S, 2 * H), (B, S, 2 * H), (B, S, 2 * H)]
