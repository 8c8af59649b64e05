"""Soft alignment and comparison against a loop over its equations."""

import numpy as np
from numpy.typing import NDArray

from tests.encoders.pairs.readers import HYPOTHESES, PREMISES, hypotheses, make, premises
from tests.tiny import softmax

Array = NDArray[np.float64]


def compared(one: Array, others: Array, energies: Array, W: Array, b: Array) -> Array:
    """One word and all words of the other text → v."""
    context = sum(weight * other for weight, other in zip(softmax(energies), others, strict=True))
    seen = np.concatenate([one, context, np.abs(one - context), one * context])
    found: Array = np.maximum(W @ seen + b, 0)
    return found


def test_equals_a_loop() -> None:
    reader = make("alignment")
    paired = reader(premises(), hypotheses())
    all_p, all_h = reader.encoder(premises()).values.detach(), reader.encoder(hypotheses()).values.detach()
    W, b, U = (reader.get_parameter(name).detach().numpy() for name in ("W.weight", "W.bias", "score.W.weight"))
    for row, (p, h) in enumerate(zip(PREMISES.tolist(), HYPOTHESES.tolist(), strict=True)):
        first, second = all_p[row, :p].numpy(), all_h[row, :h].numpy()
        energy = np.array([[one @ U @ other for other in second] for one in first])  # (P, H)
        v_p = np.array([compared(first[i], second, energy[i], W, b) for i in range(p)])
        v_h = np.array([compared(second[j], first, energy[:, j], W, b) for j in range(h)])
        vector = np.concatenate([v_p.mean(0), v_p.max(0), v_h.mean(0), v_h.max(0)])
        np.testing.assert_allclose(paired.vector[row].detach().numpy(), vector, atol=1e-12)
