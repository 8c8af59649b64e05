"""Gradients that a loop puts off are those of one backward pass, whatever other passes have left behind."""

from typing import Any

import pytest
import torch

from regard.fast.switch import plain
from regard.tasks.sequence import batch, encode, loss
from tests.tiny import CODEC, EXAMPLES, model

BATCH = batch(encode(CODEC, EXAMPLES), list(range(len(EXAMPLES))))
DECODERS: dict[str, dict[str, Any]] = {
    "gru": {"cell": "gru"},
    "feeds": {"input_feeding": True},
    "looks back": {"terms": ["coverage"]},
}


@pytest.mark.parametrize("name", DECODERS)
def test_a_pass_that_asks_for_some_gradients_adds_nothing_to_the_next(name: str) -> None:
    made = model(std=0.3, **DECODERS[name]).float().train()
    with plain():
        loss(made, BATCH).total.backward()
    wanted = {which: weight.grad for which, weight in made.named_parameters() if weight.grad is not None}
    made.zero_grad()
    decoded = made(BATCH.source, BATCH.target.data[:, :-1])
    total = torch.nn.functional.cross_entropy(
        decoded.logits.flatten(0, 1), BATCH.target.data[:, 1:].flatten(), ignore_index=0, reduction="sum"
    )
    torch.autograd.grad(total, [made.decoder.words.weight], retain_graph=True)
    torch.autograd.grad(total, [made.decoder.words.weight], retain_graph=True)
    total.backward()
    for which, gradient in wanted.items():
        torch.testing.assert_close(made.get_parameter(which).grad, gradient, atol=1e-5, rtol=1e-4, msg=which)
