"""bf16 where it is asked for, and torch left as it was."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from regard.recipe import Side
from regard.tasks.codec import Codec
from regard.tasks.sequence import batch, encode, loss
from regard.training.precision import arithmetic
from tests.tiny import EXAMPLES, model

CPU = torch.device("cpu")


@pytest.mark.parametrize(("name", "dtype"), [("fp32", torch.float32), ("bf16", torch.bfloat16)])
def test_products_have_the_precision_asked_for(name: str, dtype: torch.dtype) -> None:
    with arithmetic(name, CPU):
        assert nn.Linear(3, 5)(torch.ones(2, 3)).dtype == dtype


@pytest.mark.parametrize("lengths", [[5, 3], [5, 5]])
@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_every_recurrence_runs_in_bf16(kind: type[nn.RNNBase], lengths: list[int]) -> None:
    """oneDNN's LSTM alone refuses on processors without bf16, and only when all sequences are equally long."""
    loop = kind(3, 7, batch_first=True, bidirectional=True)
    with arithmetic("bf16", CPU):
        packed = pack_padded_sequence(torch.ones(2, 5, 3), torch.tensor(lengths), batch_first=True)
        states, _ = loop(packed)
    states.data.float().sum().backward()
    assert all(bool(weight.grad.isfinite().all()) for weight in loop.parameters())


def test_torch_is_left_as_it_was_also_after_an_error() -> None:
    before = torch.backends.mkldnn.enabled
    with pytest.raises(KeyError), arithmetic("bf16", CPU):
        raise KeyError
    assert torch.backends.mkldnn.enabled == before
    assert not torch.is_autocast_enabled("cpu")


@pytest.mark.parametrize("options", [{}, {"cell": "lstmn"}, {"cell": "lstmn", "fusion": "deep"}, {"copy": "gate"}])
def test_every_loss_is_learnt_in_bf16(options: dict[str, str]) -> None:
    codec = Codec.learn(EXAMPLES, Side(), Side(), features=False, lowercase=False, copies="copy" in options)
    made = model(codec=codec, std=0.1, **options).float()
    given = batch(encode(codec, EXAMPLES), list(range(len(EXAMPLES))))
    exact = loss(made, given, smoothing=0.1)
    with arithmetic("bf16", CPU):
        told = loss(made, given, smoothing=0.1)
    told.total.backward()
    assert told.total.item() == pytest.approx(exact.total.item(), rel=0.02)
    assert all(weight.grad is None or bool(weight.grad.isfinite().all()) for weight in made.parameters())
