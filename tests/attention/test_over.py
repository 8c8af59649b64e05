"""Attention over attention against plain loops over its equations."""

import numpy as np
import torch
from torch import Tensor
from torch.autograd import gradcheck

from regard.attention.memory import Encoded
from regard.attention.over import attend_over
from tests.attention.test_coattention import PASSAGES, QUESTIONS, B, M, N, encoded
from tests.tiny import softmax


def make() -> tuple[Encoded, Encoded]:
    return encoded(PASSAGES, M, 3), encoded(QUESTIONS, N, 4)


def test_equals_a_loop_over_its_equations() -> None:
    passage, question = make()
    found = attend_over(passage, question)
    for row, (m, n) in enumerate(zip(PASSAGES, QUESTIONS, strict=True)):
        h, q = passage.values[row].numpy(), question.values[row].numpy()
        energy = np.array([[h[i] @ q[j] for j in range(n)] for i in range(m)])
        alpha = [softmax(energy[:, j]) for j in range(n)]
        beta = sum(softmax(energy[i]) for i in range(m)) / m
        s = [sum(alpha[j][i] * beta[j] for j in range(n)) for i in range(m)]
        np.testing.assert_allclose(found.weights[row, :n, :m], alpha, atol=1e-12)
        np.testing.assert_allclose(found.importance[row, :n], beta, atol=1e-12)
        np.testing.assert_allclose(found.places[row, :m], s, atol=1e-12)


def test_all_three_are_probabilities_over_real_places() -> None:
    found = attend_over(*make())
    ones = torch.ones(B).double()
    torch.testing.assert_close(found.importance.sum(1), ones)
    torch.testing.assert_close(found.places.sum(1), ones)
    for row, (m, n) in enumerate(zip(PASSAGES, QUESTIONS, strict=True)):
        torch.testing.assert_close(found.weights[row, :n].sum(1), torch.ones(n).double())
        assert (found.places[row, m:] == 0).all()
        assert (found.importance[row, n:] == 0).all()
        assert (found.weights[row, :, m:] == 0).all()


def test_padding_on_either_side_changes_nothing() -> None:
    passage, question = make()
    together = attend_over(passage, question)
    for row, (m, n) in enumerate(zip(PASSAGES, QUESTIONS, strict=True)):
        cut = [Encoded(*(part[row : row + 1, :end] for part in one[:2]), one.summary)
               for one, end in ((passage, m), (question, n))]  # fmt: skip
        alone = attend_over(*cut)
        torch.testing.assert_close(alone.places[0], together.places[row, :m])
        torch.testing.assert_close(alone.importance[0], together.importance[row, :n])


def test_gradient() -> None:
    passage, question = make()

    def places(h: Tensor, q: Tensor) -> Tensor:
        return attend_over(passage._replace(values=h), question._replace(values=q)).places

    assert gradcheck(places, (passage.values.requires_grad_(), question.values.requires_grad_()), fast_mode=True)
