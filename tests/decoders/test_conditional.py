"""Two cells around the attention: one step and all steps agree, and a GRU pair is worked out in NumPy."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from regard.attention import Encoded, GatedAttention, NoContext, PlaneTerm
from regard.cells import CELLS
from regard.data.vocabulary import BEGIN, END, PAD
from regard.decoders.conditional import ConditionalDecoder
from regard.decoders.output import OUTPUTS
from regard.decoders.start import STARTS
from regard.dropout import Dropout
from regard.errors import UsageError
from regard.fast.switch import plain
from regard.losses import Wanted
from regard.recipe import Model
from regard.tasks.parts import make_attention
from tests.tiny import ATTENTIONS, SIZES, arrays, sigmoid, softmax, tensors, unroll

B, S, V, H, E, N = 3, 6, 6, 6, 5, 9
LENGTHS = (6, 2, 4)
MASK = torch.arange(S) < torch.tensor(LENGTHS)[:, None]
TOKENS = torch.tensor([[BEGIN, 4, 5, 6], [BEGIN, 8, PAD, PAD], [BEGIN, 5, 7, PAD]])
TARGETS = torch.tensor([[4, 5, 6, END], [8, END, PAD, PAD], [5, 7, END, PAD]])
WANTED = Wanted(TARGETS, 0.1)
GRID = torch.stack([torch.arange(S) // 2, torch.arange(S) % 2], -1).expand(B, S, 2)  # two columns

every_cell = pytest.mark.parametrize("cell", CELLS)
KINDS = {name: options for name, options in ATTENTIONS.items() if name not in ("monotonic", "none")}


def encoded() -> Encoded:
    torch.manual_seed(1)
    values = torch.randn(B, S, V).double() * MASK[:, :, None]
    return Encoded(values, MASK, values.sum(1) / MASK.sum(1, keepdim=True), grid=GRID * MASK[:, :, None])


def make(
    cell: str = "gru", output: str = "maxout", dropout: Dropout | None = None, **options: Any
) -> ConditionalDecoder:
    torch.manual_seed(0)
    attention = make_attention(H, V, Model(**{**SIZES, **options}))
    start = STARTS["last"](V, H, 1, CELLS[cell].parts)
    made = ConditionalDecoder(N, E, H, attention, OUTPUTS[output](H, V, E, 7, N), start, cell, dropout).double().eval()
    for weight in made.parameters():
        nn.init.normal_(weight)
    return made


@every_cell
@pytest.mark.parametrize("attention", KINDS)
@torch.no_grad()
def test_steps_equal_forward(attention: str, cell: str) -> None:
    made, source = make(cell, **KINDS[attention]), encoded()
    forward, steps = made(TOKENS, source), unroll(made, TOKENS, *made.start(source))
    assert forward.logits.shape == (B, 4, N)
    torch.testing.assert_close(steps.logits, forward.logits, atol=1e-10, rtol=0)
    torch.testing.assert_close(steps.weights, forward.weights, atol=1e-10, rtol=0)


@torch.no_grad()
def test_steps_equal_forward_with_a_plane_and_a_gate() -> None:
    made, source = make(terms=("coverage",)), encoded()
    made.attention.terms[0] = PlaneTerm(SIZES["compare"], 3).double()
    made.attention = GatedAttention(made.attention, H).double()
    forward, steps = made(TOKENS, source), unroll(made, TOKENS, *made.start(source))
    torch.testing.assert_close(steps.logits, forward.logits, atol=1e-10, rtol=0)


def gru(x: NDArray[Any], s: NDArray[Any], W: Any, b: Any, U: Any, d: Any) -> NDArray[Any]:
    (x_r, x_z, x_n), (u_r, u_z, u_n) = np.split(W @ x + b, 3), np.split(U @ s + d, 3)
    r, z = sigmoid(x_r + u_r), sigmoid(x_z + u_z)
    return (1 - z) * np.tanh(x_n + r * u_n) + z * s


def test_by_hand() -> None:
    """GRUs, additive score, maxout output, s_0 = tanh(W mean_j h_j)."""
    made, source = make(score="additive"), encoded()
    found = made(TOKENS, source)
    (W_0, b_0), (table,) = arrays(made.first), arrays(made.words)
    first, second = (list(arrays(cell)) for cell in made.cells)
    W_q, U_h, b_h, v = arrays(made.attention.score)
    (out, o), (M, m) = arrays(made.output.O), arrays(made.output.parts)
    for row, length in enumerate(LENGTHS):
        h = source.values[row, :length].numpy()
        s = np.tanh(W_0 @ h.mean(0) + b_0)
        for t, token in enumerate(TOKENS[row].tolist()):
            between = gru(table[token], s, *first)
            alpha = softmax(np.array([v[0] @ np.tanh(W_q @ between + U_h @ h[j] + b_h) for j in range(length)]))
            c = sum(alpha[j] * h[j] for j in range(length))
            s = gru(c, between, *second)
            pairs = M @ np.concatenate([s, table[token], c]) + m
            logits = out @ pairs.reshape(-1, 2).max(1) + o
            np.testing.assert_allclose(found.weights[row, t, :length].detach(), alpha, atol=1e-12)
            np.testing.assert_allclose(found.logits[row, t].detach(), logits, atol=1e-12)


@every_cell
@pytest.mark.parametrize("attention", ["additive", "coverage", "heads"])
@torch.no_grad()
def test_nothing_depends_on_batch_mates_or_padding(attention: str, cell: str) -> None:
    made, source = make(cell, **KINDS[attention]), encoded()
    together = made(TOKENS, source)
    for row, length in enumerate(LENGTHS):
        alone = Encoded(*(one[row : row + 1, :length] for one in source[:2]), source.summary[row : row + 1])
        one = made(TOKENS[row : row + 1], alone)
        torch.testing.assert_close(one.logits[0], together.logits[row], atol=1e-9, rtol=0)
        torch.testing.assert_close(one.weights[0], together.weights[row, :, :length], atol=1e-9, rtol=0)
        assert (together.weights[row, :, length:] == 0).all()


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_loss_is_that_of_its_logits_and_every_weight_learns(output: str) -> None:
    made, source = make(output=output), encoded()
    told = made.loss(TOKENS, source, WANTED, looked=True)
    with plain():
        expected = made.loss(TOKENS, source, WANTED, looked=True)
    torch.testing.assert_close(told.loss.total, expected.loss.total, atol=1e-9, rtol=0)
    told.loss.total.backward()
    assert [name for name, weight in made.named_parameters() if weight.grad is None or (weight.grad == 0).all()] == []


def test_gathered_gradients_equal_plain_ones() -> None:
    made, source, found = make(terms=("location",)), encoded(), []
    for path in (nullcontext(), plain()):
        made.zero_grad()
        with path:
            made.loss(TOKENS, source, WANTED, looked=False).loss.total.backward()
        found.append([weight.grad for weight in made.parameters()])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-9, rtol=0)


def test_variational_masks_last_from_the_first_step_to_the_last() -> None:
    made, source = make(dropout=Dropout(0.4, variational=True)), encoded()
    still = made(TOKENS, source)
    made.train()
    torch.manual_seed(5)
    noisy = made(TOKENS, source)
    torch.manual_seed(5)
    state, memory = made.start(source)
    torch.manual_seed(6)
    torch.testing.assert_close(unroll(made, TOKENS, state, memory).logits, noisy.logits, atol=1e-10, rtol=0)
    assert (noisy.logits - still.logits).abs().max() > 0.1


def test_nothing_given_is_changed_and_search_can_pick_rows() -> None:
    made, source = make(terms=("coverage",)), encoded()
    kept = [one.clone() for one in tensors(source)]
    state, _ = made.start(source)
    made(TOKENS, source)
    assert all(torch.equal(one, before) for one, before in zip(tensors(source), kept, strict=True))
    assert all(len(one) == B for one in tensors(state))


def test_it_needs_a_context() -> None:
    with pytest.raises(UsageError, match="query=current"):
        ConditionalDecoder(N, E, H, NoContext(), OUTPUTS["maxout"](H, 0, E, 7, N), STARTS["zero"](V, H, 1, 1))
