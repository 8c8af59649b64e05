"""The training state in one file: one atomic rename, so weights, optimiser, random states and counters always agree."""

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

import torch
from pydantic import ConfigDict, TypeAdapter, ValidationError
from torch import Tensor

from regard.errors import DataError
from regard.folder import Folder, read_tensors, write_tensors
from regard.training.engine import Engine


@dataclass
class Progress:
    """Where training stands; with the seed, this and the tensors determine everything that follows."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    fingerprint: str  # of the training pairs, so that a run is never resumed on others
    epoch: int = 0  # whole epochs done
    batch: int = 0  # updates done in this epoch
    update: int = 0  # updates done in all
    rate: float = 0.0  # learning rate of the last update
    nll: float = 0.0  # of this epoch so far
    symbols: int = 0
    best: float | None = None  # dev metric of the weights kept, lower is better
    best_loss: float | None = None
    best_epoch: int = 0
    best_metrics: dict[str, float] = field(default_factory=dict)
    worse: int = 0  # evaluations since the best
    since_fall: int = 0  # evaluations without improvement since the learning rate last fell
    falls: int = 0
    kept: list[list[float]] = field(default_factory=list)  # [metric, loss, update] of the checkpoints to average
    log_size: int = 0
    seconds: float = 0.0
    done: bool = False


def save_state(folder: Folder, progress: Progress, tensors: dict[str, Tensor], random: list[Tensor]) -> None:
    states = {f"random/{rank}": state for rank, state in enumerate(random)}
    write_tensors(folder.training, {**tensors, **states}, {"progress": json.dumps(dataclasses.asdict(progress))})


def load_state(folder: Folder, engine: Engine) -> tuple[Progress, dict[str, Tensor]]:
    """The state as the leader reads it, for every process."""
    tensors, notes = read_tensors(folder.training) if engine.leads else ({}, {})
    tensors = engine.tensors_from_leader(tensors)
    text = engine.bytes_from_leader(notes.get("progress", "").encode())
    try:
        return TypeAdapter(Progress).validate_json(text), tensors
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "progress"
        raise DataError(f"{folder.training} is damaged: {where}: {first['msg']}") from error


def random_state(device: torch.device) -> Tensor:
    """This process's random state as bytes; on a GPU, the CPU's and the GPU's."""
    if device.type == "cuda":
        return torch.cat([torch.get_rng_state(), torch.cuda.get_rng_state(device)])
    return torch.get_rng_state()


def set_random_state(state: Tensor, device: torch.device) -> None:
    size = len(torch.get_rng_state())
    torch.set_rng_state(state[:size])
    if device.type == "cuda":
        torch.cuda.set_rng_state(state[size:], device)


def part(tensors: dict[str, Tensor], name: str) -> dict[str, Any]:
    """The tensors of one part: `optimiser/…` without the prefix."""
    return {key.removeprefix(f"{name}/"): value for key, value in tensors.items() if key.startswith(f"{name}/")}
