"""The gated pair of sentence matrices, against a loop."""

import numpy as np
import torch

from tests.encoders.pairs.readers import ROWS, C, hypotheses, make, premises


def test_equals_a_loop() -> None:
    reader = make("sentences")
    paired = reader(premises(), hypotheses())
    one, other = reader.encoder(premises()).values, reader.encoder(hypotheses()).values
    assert paired.over_hypothesis is not None
    for b in range(3):
        vector = []
        for i in range(ROWS):
            m_p = sum(paired.over_premise[b, i, j] * one[b, j] for j in range(one.size(1)))
            m_h = sum(paired.over_hypothesis[b, i, j] * other[b, j] for j in range(other.size(1)))
            W_p = reader.get_parameter(f"premise.{i}.weight").detach().numpy()
            W_h = reader.get_parameter(f"hypothesis.{i}.weight").detach().numpy()
            for f in range(C):
                vector.append((W_p[f] @ m_p.detach().numpy()) * (W_h[f] @ m_h.detach().numpy()))
        np.testing.assert_allclose(paired.vector[b].detach().numpy(), vector, atol=1e-12)


def test_each_text_is_read_without_a_look_at_the_other() -> None:
    reader = make("sentences")
    other = hypotheses()
    swapped = other._replace(data=-other.data)
    assert torch.equal(reader(premises(), other).over_premise, reader(premises(), swapped).over_premise)
