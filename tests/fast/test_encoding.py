"""Sources read inside kernels.c, against the encoder itself."""

from typing import Any

import pytest
import torch

from regard.fast import encoding, kernels
from regard.fast.switch import plain
from regard.model import EncoderDecoder
from regard.tasks.sequence import batch, encode
from tests.tiny import CODEC, EXAMPLES, model

pytestmark = pytest.mark.skipif(kernels.library() is None, reason="this machine has no C compiler")
SOURCES = batch(encode(CODEC, EXAMPLES), list(range(len(EXAMPLES)))).source
ENCODERS: dict[str, dict[str, Any]] = {
    "one layer": {},
    "one direction": {"bidirectional": False},
    "layers": {"encoder_layers": 3},
    "residual layers": {"encoder_layers": 3, "residual": True},
}


def check(made: EncoderDecoder) -> None:
    made.eval()
    with torch.no_grad():
        fast = made.encode(SOURCES)
        with plain():
            reference = made.encode(SOURCES)
    for one, other in zip(fast, reference, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


def test_sources_have_many_lengths() -> None:
    assert len(set(SOURCES.lengths.tolist())) > 2


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("table", [0, 2048])
def test_equals_the_encoder(name: str, table: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the symbols' part of the gates looked up, and with it multiplied."""
    monkeypatch.setattr(encoding, "TABLE", table)
    made = model(std=0.5, **ENCODERS[name]).float()
    check(made)
    assert isinstance(made.encoder._reader, encoding.Reader)


@pytest.mark.parametrize("weight", ["0.table.weight", "1.layers.0.loop.weight_ih_l0", "1.layers.1.loop.weight_hh_l0"])
def test_follows_the_weights(weight: str) -> None:
    """What is arranged of the weights is kept from call to call, but not beyond a change of them."""
    made = model(std=0.5, encoder_layers=2).float()
    check(made)
    known = made.encoder._reader
    check(made)
    assert made.encoder._reader is not None
    assert made.encoder._reader is known
    with torch.no_grad():
        made.encoder.get_parameter(weight).mul_(-1.5)
    check(made)
    made.encoder.get_parameter(weight).data = made.encoder.get_parameter(weight).data * 2
    check(made)
    owner, _, last = weight.rpartition(".")
    other = torch.nn.Parameter(made.encoder.get_parameter(weight).detach() * -1)
    setattr(made.encoder.get_submodule(owner), last, other)
    check(made)


def test_only_without_gradients() -> None:
    made = model(std=0.5).float().eval()
    made.encode(SOURCES).values.sum().backward()
    assert made.encoder._reader is None
    assert made.encoder[0].table.weight.grad is not None


@pytest.mark.parametrize("cell", ["gru", "tanh", "sigmoid"])
def test_other_cells_read_by_themselves(cell: str) -> None:
    made = model(std=0.5, cell=cell).float()
    check(made)
    assert made.encoder._reader is None
