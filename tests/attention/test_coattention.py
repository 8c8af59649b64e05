"""Dynamic coattention's matrices against plain loops over their equations."""

import numpy as np
import torch
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention.coattention import Coattention, with_sentinel
from regard.attention.memory import Encoded
from tests.tiny import softmax

B, M, N, V = 3, 7, 5, 11
PASSAGES, QUESTIONS = [7, 4, 1], [2, 5, 3]  # real places of each row


def encoded(lengths: list[int], width: int, seed: int) -> Encoded:
    """Values that are not zero beyond the ends."""
    values = torch.randn(B, width, V, generator=torch.Generator().manual_seed(seed)).double()
    return Encoded(values, torch.arange(width) < torch.tensor(lengths)[:, None], values[:, 0])


def make() -> tuple[Coattention, Encoded, Encoded]:
    torch.manual_seed(0)
    made = Coattention(V).double()
    for weight in made.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return made, encoded(PASSAGES, M, 1), encoded(QUESTIONS, N, 2)


def test_equals_a_loop_over_its_equations() -> None:
    made, passage, question = make()
    found = made(passage, question)
    W, b = made.W.weight.detach().numpy(), made.W.bias.detach().numpy()
    for row, (m, n) in enumerate(zip(PASSAGES, QUESTIONS, strict=True)):
        D = [*passage.values[row, :m].numpy(), made.no_passage.detach().numpy()]
        Q = [np.tanh(W @ q + b) for q in (*question.values[row, :n].numpy(), made.no_question.detach().numpy())]
        L = np.array([[d @ q for q in Q] for d in D])  # (m + 1, n + 1)
        A_Q = np.array([softmax(L[:, j]) for j in range(n + 1)])  # (n + 1, m + 1)
        A_D = np.array([softmax(L[i]) for i in range(m + 1)])  # (m + 1, n + 1)
        C_Q = [sum(A_Q[j, i] * D[i] for i in range(m + 1)) for j in range(n + 1)]
        C_D = [sum(A_D[i, j] * np.concatenate([Q[j], C_Q[j]]) for j in range(n + 1)) for i in range(m + 1)]
        np.testing.assert_allclose(found.over_passage[row, : n + 1, : m + 1].detach(), A_Q, atol=1e-12)
        np.testing.assert_allclose(found.over_question[row, : m + 1, : n + 1].detach(), A_D, atol=1e-12)
        np.testing.assert_allclose(found.context[row, :m].detach(), C_D[:m], atol=1e-12)


def test_weights_sum_to_one_over_real_places_and_the_sentinel() -> None:
    made, passage, question = make()
    found = made(passage, question)
    for weights, readers, read in (
        (found.over_passage, QUESTIONS, PASSAGES),
        (found.over_question, PASSAGES, QUESTIONS),
    ):
        for row in range(B):
            real = weights[row, : readers[row] + 1]
            torch.testing.assert_close(real.sum(-1), torch.ones(readers[row] + 1).double())
            assert (real[:, : read[row] + 1] > 0).all()
            assert (real[:, read[row] + 1 :] == 0).all()
    assert (found.context[1, PASSAGES[1] :] == 0).all()


def test_padding_moves_no_sentinel_and_changes_nothing() -> None:
    made, passage, question = make()
    together = made(passage, question)
    for row, (m, n) in enumerate(zip(PASSAGES, QUESTIONS, strict=True)):
        alone = made(*(Encoded(*(part[row : row + 1, :end] for part in one[:2]), one.summary) for one, end in
                       ((passage, m), (question, n))))  # fmt: skip
        torch.testing.assert_close(alone.context[0], together.context[row, :m])
        torch.testing.assert_close(alone.over_passage[0], together.over_passage[row, : n + 1, : m + 1])
        torch.testing.assert_close(alone.over_question[0], together.over_question[row, : m + 1, : n + 1])


def test_a_sentinel_stands_at_the_true_end() -> None:
    sentinel = torch.full((V,), 9.0).double()
    values, mask = with_sentinel(encoded(PASSAGES, M, 1), sentinel)
    for row, length in enumerate(PASSAGES):
        assert torch.equal(values[row, length], sentinel)
        assert mask[row].tolist() == [True] * (length + 1) + [False] * (M - length)
    assert (values == 9).sum() == B * V


def test_gradient() -> None:
    made, passage, question = make()

    def context(D: Tensor, Q: Tensor, *_: Tensor) -> Tensor:
        found: Tensor = made(passage._replace(values=D), question._replace(values=Q)).context
        return found

    inputs = passage.values.requires_grad_(), question.values.requires_grad_(), *made.parameters()
    assert gradcheck(context, inputs, fast_mode=True)
    gradients = torch.autograd.grad(context(*inputs).pow(2).sum(), inputs)
    assert all(one.abs().max() > 0 for one in gradients)
