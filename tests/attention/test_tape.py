"""Looking back over a tape, against a loop over its entries."""

import numpy as np
import torch
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention.tape import Tape, TapeAttention
from tests.tiny import arrays, softmax

B, S, X, H, A = 2, 5, 3, 7, 11
MASK = torch.tensor([[True, True, False, True, False], [True, True, True, True, True]])


def make() -> TapeAttention:
    torch.manual_seed(0)
    return TapeAttention(X, H, A).double()


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


def test_equals_a_loop_over_entries() -> None:
    attention, states, carries, x, last = make(), drawn(B, S, H), drawn(B, S, H) + 1, drawn(B, X), drawn(B, H)
    found = attention(attention.ask(x), last, attention.record(states, carries, MASK))
    W_h, b, W_x, W_last, v = arrays(attention)
    for row in range(B):
        places = [i for i in range(S) if MASK[row, i]]
        h, c = states[row].numpy(), carries[row].numpy()
        query = W_x @ x[row].numpy() + W_last @ last[row].numpy()
        weights = softmax(np.array([v[0] @ np.tanh(W_h @ h[i] + b + query) for i in places]))
        np.testing.assert_allclose(found.weights[row, places].detach(), weights, atol=1e-12)
        np.testing.assert_allclose(found.state[row].detach(), weights @ h[places], atol=1e-12)
        np.testing.assert_allclose(found.carry[row].detach(), weights @ c[places], atol=1e-12)
    assert (found.weights[~MASK] == 0).all()


def test_a_tape_grown_entry_by_entry_is_the_tape_recorded_at_once() -> None:
    attention, states, carries = make(), drawn(B, S, H), drawn(B, S, H) + 1
    tape = attention.empty(states)
    for state, carry in zip(states.unbind(1), carries.unbind(1), strict=True):
        tape = attention.extend(tape, state, carry)
    whole = attention.record(states, carries, torch.ones(B, S, dtype=torch.bool))
    torch.testing.assert_close(tape.entries, whole.entries)
    torch.testing.assert_close(tape.keys, whole.keys)
    asked = attention.ask(drawn(B, X))
    for one, other in zip(attention(asked, drawn(B, H), tape), attention(asked, drawn(B, H), whole), strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


def test_nothing_is_recalled_where_there_is_nothing() -> None:
    attention, asked, last = make(), drawn(B, A), drawn(B, H)
    hidden = attention.record(drawn(B, S, H), drawn(B, S, H), torch.zeros(B, S, dtype=torch.bool))
    for tape in (attention.empty(last), hidden):
        recalled = attention(asked, last, tape)
        assert all((part == 0).all() for part in recalled)
        assert recalled.state.shape == recalled.carry.shape == (B, H)


def test_gradients() -> None:
    attention = make()
    given = [one.requires_grad_() for one in (drawn(B, S, H), drawn(B, S, H) + 1, drawn(B, X), drawn(B, H))]

    def recalled(states: Tensor, carries: Tensor, x: Tensor, last: Tensor, *_: Tensor) -> tuple[Tensor, ...]:
        tape: Tape = attention.record(states, carries, MASK)
        return tuple(attention(attention.ask(x), last, tape))

    assert gradcheck(recalled, [*given, *attention.parameters()])
