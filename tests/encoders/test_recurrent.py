"""Both kinds of layers are one recurrence, and it never runs over the padding."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.cells import CELLS
from regard.data.batching import Padded
from regard.dropout import Dropout
from regard.encoders.recurrent import Embed, FusedLayer, RecurrentEncoder, UnrolledLayer
from tests.tiny import arrays, padded, sigmoid

B, S, E, H = 3, 7, 5, 2
LENGTHS = torch.tensor([3, 7, 1])
REAL = torch.arange(S) < LENGTHS[:, None]

every_cell = pytest.mark.parametrize("kind", CELLS)
both_ways = pytest.mark.parametrize("bidirectional", [False, True])
deep = pytest.mark.parametrize(("layers", "residual"), [(1, False), (2, False), (3, False), (3, True)])


def vectors() -> Tensor:
    return torch.randn(B, S, E, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def encoder(kind: str, bidirectional: bool, layers: int = 1, residual: bool = False) -> RecurrentEncoder:
    torch.manual_seed(0)
    made = RecurrentEncoder(E, H, kind, layers, bidirectional, residual).double()
    for weight in made.parameters():
        nn.init.normal_(weight)
    return made


@pytest.mark.parametrize("kind", ["tanh", "gru", "lstm"])
@both_ways
def test_fused_and_unrolled_are_the_same(kind: str, bidirectional: bool) -> None:
    torch.manual_seed(0)
    fused = FusedLayer(kind, E, H, bidirectional).double()
    unrolled = UnrolledLayer(kind, E, H, bidirectional).double()
    theirs = dict(fused.loop.named_parameters())
    with torch.no_grad():
        for cell, direction in zip(unrolled.cells, ("", "_reverse"), strict=False):
            for linear, name in ((cell.W, "ih"), (cell.U, "hh")):
                linear.weight.copy_(theirs[f"weight_{name}_l0{direction}"])
                linear.bias.copy_(theirs[f"bias_{name}_l0{direction}"])
    one, other = fused(vectors(), LENGTHS), unrolled(vectors(), LENGTHS)
    assert one.values.shape == (B, S, H * (1 + bidirectional))
    torch.testing.assert_close(one.values, other.values, atol=1e-12, rtol=0)
    torch.testing.assert_close(one.last, other.last, atol=1e-12, rtol=0)


@both_ways
def test_sigmoid_is_its_equation(bidirectional: bool) -> None:
    made = encoder("sigmoid", bidirectional)
    encoded = made(Padded(vectors(), LENGTHS))
    for row, length in enumerate(LENGTHS.tolist()):
        for direction, cell in enumerate(made.layers[0].cells):
            W, b, U, d = arrays(cell)
            h, part = np.zeros(H), slice(direction * H, (direction + 1) * H)
            for j in range(length) if direction == 0 else reversed(range(length)):
                h = sigmoid(W @ vectors()[row, j].numpy() + b + U @ h + d)
                np.testing.assert_allclose(encoded.values[row, j, part].detach(), h, atol=1e-12)
            np.testing.assert_allclose(encoded.summary[row, part].detach(), h, atol=1e-12)


@every_cell
@both_ways
@deep
def test_padding_changes_nothing(kind: str, bidirectional: bool, layers: int, residual: bool) -> None:
    """Other lengths of padding, other vectors in it, no batch mates: values and summary stay."""
    made = encoder(kind, bidirectional, layers, residual)
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


@every_cell
@both_ways
@deep
def test_no_gradient_reaches_padding(kind: str, bidirectional: bool, layers: int, residual: bool) -> None:
    given = vectors().requires_grad_()
    encoded = encoder(kind, bidirectional, layers, residual)(Padded(given, LENGTHS))
    (encoded.values.sum() + encoded.summary.sum()).backward()
    assert given.grad is not None
    assert (given.grad[~REAL] == 0).all()
    assert (given.grad[REAL] != 0).all()


@every_cell
@pytest.mark.parametrize("layers", [1, 3])
def test_the_summary_is_the_state_at_the_true_end(kind: str, layers: int) -> None:
    """From the left it is at the last place, from the right at the first: there each direction has read all."""
    encoded = encoder(kind, True, layers)(Padded(vectors(), LENGTHS))
    last = encoded.values[torch.arange(B), LENGTHS - 1]
    torch.testing.assert_close(encoded.summary[:, :H], last[:, :H], atol=0, rtol=0)
    torch.testing.assert_close(encoded.summary[:, H:], encoded.values[:, 0, H:], atol=0, rtol=0)


@every_cell
@both_ways
def test_each_place_sees_what_its_directions_have_read(kind: str, bidirectional: bool) -> None:
    """Change the vector at place j: from the left, places ≥ j change, from the right, places ≤ j."""
    made = encoder(kind, bidirectional)
    before = made(Padded(vectors(), torch.full((B,), S))).values
    for j in range(S):
        changed = vectors()
        changed[:, j] += 1
        moved = (made(Padded(changed, torch.full((B,), S))).values - before).abs().amax((0, 2)) > 1e-12
        assert moved.tolist() == [bidirectional or place >= j for place in range(S)]


@both_ways
def test_a_residual_adds_what_a_layer_read(bidirectional: bool) -> None:
    made = encoder("gru", bidirectional, 3, residual=True)
    source = Padded(vectors(), LENGTHS)
    first = made.layers[0](source.data, LENGTHS).values
    second = made.layers[1](first, LENGTHS).values + first
    third = made.layers[2](second, LENGTHS)
    encoded = made(source)
    torch.testing.assert_close(encoded.values, third.values + second, atol=1e-12, rtol=0)
    torch.testing.assert_close(encoded.summary, third.last, atol=1e-12, rtol=0)


def test_dropout_is_on_the_input_and_after_every_layer() -> None:
    counted: list[tuple[int, ...]] = []

    class Counting(Dropout):
        def forward(self, vectors: Tensor, mask: Tensor | None = None) -> Tensor:
            counted.append(tuple(vectors.shape))
            return super().forward(vectors, mask)

    made = RecurrentEncoder(E, H, "gru", 2, dropout=Counting(0.5))
    encoded = made(Padded(vectors().float(), LENGTHS))
    assert counted == [(B, S, E), (B, S, 2 * H), (B, S, 2 * H)]
    assert (encoded.values[REAL] == 0).any()
    assert not (made.eval()(Padded(vectors().float(), LENGTHS)).values[REAL] == 0).any()


@every_cell
@both_ways
def test_other_symbols_beyond_the_end_change_nothing(kind: str, bidirectional: bool) -> None:
    torch.manual_seed(0)
    made = nn.Sequential(Embed(11, E), encoder(kind, bidirectional)).double()
    sequences = [4, 5, 6], [7, 8, 9, 10, 4, 5, 6], [5]
    encoded = made(padded(*sequences))
    other = made(padded(*sequences, width=9, filler=8))
    torch.testing.assert_close(other.values[:, :7], encoded.values, atol=1e-12, rtol=0)
    torch.testing.assert_close(other.summary, encoded.summary, atol=1e-12, rtol=0)
    assert other.mask.sum() == encoded.mask.sum() == 11


def test_embeddings_of_padding_are_zero_and_stay() -> None:
    embed = Embed(11, E)
    found = embed(padded([4, 5], [6]))
    assert (found.data[1, 1] == 0).all()
    assert (found.data[0, 0] == embed.table.weight[4]).all()
    found.data.sum().backward()
    assert embed.table.weight.grad is not None
    assert (embed.table.weight.grad[0] == 0).all()
    assert (embed.table.weight.grad[6] == 1).all()
