"""bf16 where it is asked for, and torch left as it was."""

import subprocess
import sys

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


@pytest.mark.parametrize("bias", [False, True])
def test_products_of_any_size_are_made_where_a_virtual_machine_forbids_amx(bias: bool) -> None:
    """There such a product ended in an error, or ended the process: so in one of its own."""
    code = f"""if True:
        import torch
        from regard.training.precision import arithmetic
        layer, vectors = torch.nn.Linear(64, 64, bias={bias}), torch.ones(64, 64)
        exact = layer(vectors)
        with arithmetic("bf16", torch.device("cpu")):
            found = layer(vectors)
        found.float().sum().backward()
        print((found.float() - exact).abs().max().item() < 0.05)
    """
    found = subprocess.run([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, check=True)
    assert found.stdout == "True\n"


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
