"""What the engine promises to one process; several are in test_distributed."""

import pytest
import torch
from torch import nn

from regard.training.engine import Engine


@pytest.fixture
def engine() -> Engine:
    return Engine("cpu", "fsdp")


def test_one_process_leads_and_agrees_with_itself(engine: Engine) -> None:
    assert engine.leads
    assert engine.agree("anything")
    assert engine.total([1.5, 2.0]) == engine.from_leader([1.5, 2.0]) == [1.5, 2.0]
    assert engine.bytes_from_leader(b"abc") == b"abc"
    assert [one.tolist() for one in engine.gather(torch.ones(2))] == [[1.0, 1.0]]


def test_one_process_has_nothing_to_share_out(engine: Engine) -> None:
    model = nn.Linear(3, 5)
    assert engine.spread(model) is model
    assert not engine.shards


@pytest.mark.parametrize(("longest", "after"), [(2.5, 2.5), (10.0, 5.0), (0.0, 5.0)])
def test_clipping_tells_the_length_before(longest: float, after: float, engine: Engine) -> None:
    model = nn.Linear(2, 1, bias=False)
    model.weight.grad = torch.tensor([[3.0, 4.0]])
    assert engine.clip(model, longest).item() == 5.0
    assert model.weight.grad.norm().item() == pytest.approx(after, rel=1e-5)


def test_whole_weights_are_copies(engine: Engine) -> None:
    model = nn.Linear(3, 5)
    before = model.weight.detach().clone()
    weights = engine.whole_weights(model, ["weight"])
    nn.init.zeros_(model.weight)
    assert torch.equal(weights["weight"], before)
    assert set(weights) == {"weight"}
