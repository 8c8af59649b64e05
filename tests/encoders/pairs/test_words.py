"""Word-by-word attention against a loop over its equations; it stops at each hypothesis's own end."""

import numpy as np
import torch

from tests.encoders.pairs.readers import HYPOTHESES, PREMISES, V, hypotheses, make, premises
from tests.tiny import softmax


def test_equals_a_loop() -> None:
    reader = make("words")
    paired = reader(premises(), hypotheses())
    read, asked = reader.encoder(premises()), reader.encoder(hypotheses())
    W = {name: weight.detach().numpy() for name, weight in reader.named_parameters()}
    W_h, W_r = np.split(W["attention.score.W.weight"], [V], axis=1)  # (A, V) each
    for b, (p, n) in enumerate(zip(PREMISES.tolist(), HYPOTHESES.tolist(), strict=True)):
        Y, h, r = read.values[b, :p].detach().numpy(), asked.values[b].detach().numpy(), np.zeros(V)
        for t in range(n):
            M = np.array([W["attention.score.U.weight"] @ y + W["attention.score.U.bias"] for y in Y])  # (P, A)
            M = np.tanh(M + W_h @ h[t] + W_r @ r)
            alpha = softmax(M @ W["attention.score.v.weight"][0])  # (P,)
            np.testing.assert_allclose(paired.over_premise[b, t, :p].detach().numpy(), alpha, atol=1e-12)
            r = Y.T @ alpha + np.tanh(W["W_t.weight"] @ r)
        h_N = asked.summary[b].detach().numpy()
        vector = np.tanh(W["W_p.weight"] @ r + W["W_x.weight"] @ h_N)
        np.testing.assert_allclose(paired.vector[b].detach().numpy(), vector, atol=1e-12)


def test_a_word_knows_what_was_read_at_those_before_it() -> None:
    reader = make("words")
    before = reader(premises(), hypotheses()).over_premise
    with torch.no_grad():
        reader.get_parameter("attention.score.W.weight")[:, V:] = 0  # W_r: it forgets r_{t-1}
    after = reader(premises(), hypotheses()).over_premise
    torch.testing.assert_close(after[:, 0], before[:, 0])  # r_0 = 0
    assert not torch.allclose(after[1, 1:], before[1, 1:])
