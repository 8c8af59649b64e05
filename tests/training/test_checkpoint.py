"""The training state as a file."""

from pathlib import Path

import pytest
import torch

from regard.errors import DataError
from regard.folder import Folder, write_tensors
from regard.training.checkpoint import (
    Progress,
    load_state,
    part,
    random_state,
    save_state,
    set_random_state,
)
from regard.training.engine import Engine

CPU = torch.device("cpu")
MIDWAY = Progress(
    "f00d",
    epoch=3,
    batch=2,
    update=17,
    rate=1e-3 / 3,
    nll=0.1 + 0.2,
    symbols=31,
    best=2 / 3,
    best_loss=1 / 7,
    best_epoch=2,
    best_metrics={"wer": 200 / 3},
    worse=1,
    since_fall=1,
    falls=4,
    kept=[[2 / 3, 1 / 7, 10.0], [1.0, 0.1, 5.0]],
    log_size=99,
    seconds=1.5,
)


def test_every_counter_and_tensor_comes_back_exactly(tmp_path: Path) -> None:
    tensors = {"model/a": torch.randn(3, 5), "optimiser/a/step": torch.tensor(17.0)}
    save_state(Folder(tmp_path), MIDWAY, tensors, [torch.arange(7).byte(), torch.arange(11).byte()])
    progress, loaded = load_state(Folder(tmp_path), Engine("cpu"))
    assert progress == MIDWAY
    assert set(loaded) == {*tensors, "random/0", "random/1"}
    assert all(torch.equal(loaded[name], one) for name, one in tensors.items())
    assert loaded["random/1"].tolist() == list(range(11))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "progress"),
        ("[]", "progress"),
        ("{", "progress"),
        ("{}", "fingerprint"),
        ('{"fingerprint": "f", "epoch": "1"}', "epoch"),
        ('{"fingerprint": "f", "epoch": 1.5}', "epoch"),
        ('{"fingerprint": "f", "kept": [["a"]]}', "kept"),
        ('{"fingerprint": "f", "shell": "rm"}', "shell"),
    ],
)
def test_counters_that_are_not_ours_are_one_clear_error(tmp_path: Path, text: str, named: str) -> None:
    write_tensors(Folder(tmp_path).training, {"a": torch.zeros(1)}, {"progress": text})
    with pytest.raises(DataError, match=rf"training.safetensors is damaged: {named}") as caught:
        load_state(Folder(tmp_path), Engine("cpu"))
    assert "\n" not in str(caught.value)


def test_the_random_state_brings_the_same_numbers_back() -> None:
    state = random_state(CPU)
    drawn = torch.rand(7)
    set_random_state(state, CPU)
    assert torch.equal(torch.rand(7), drawn)
    assert not torch.equal(torch.rand(7), drawn)


def test_a_part_is_what_stands_under_its_name() -> None:
    a, b, c = (torch.tensor(k) for k in range(3))
    assert part({"model/x/y": a, "model/z": b, "models/x": c}, "model") == {"x/y": a, "z": b}
