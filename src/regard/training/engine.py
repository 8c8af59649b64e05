"""One process or many: who am I, and what must be agreed on. Launched by torchrun or SLURM, or by nobody.

`torchrun` sets RANK, WORLD_SIZE and the meeting point; without them there is one process and nothing to agree on.
Only the leader touches the run folder, so no other machine needs to see it.
"""

import os
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import torch.distributed as dist
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from regard.device import choose_device
from regard.training.slurm import torchrun_names

WHOLE = StateDictOptions(full_state_dict=True)
LEADERS = StateDictOptions(full_state_dict=True, cpu_offload=True)  # the others get nothing
TIED = StateDictOptions(full_state_dict=True, strict=False)  # tied weights are given once

CLOSED: list[Any] = []  # groups that are over


class Engine:
    """The group of processes that train one model."""

    def __init__(self, device: str = "auto", strategy: str = "ddp"):
        self.device = choose_device(device)
        os.environ.update(torchrun_names(os.environ))
        self.world = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))
        self.shards = strategy == "fsdp" and self.world > 1
        if self.world > 1 and self.device.type == "cuda":
            self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(self.device)
        if self.world > 1 and not dist.is_initialized():
            dist.init_process_group("nccl" if self.device.type == "cuda" else "gloo")

    @property
    def leads(self) -> bool:
        """Whether this process writes files and talks to people."""
        return self.rank == 0

    def spread(self, model: nn.Module) -> nn.Module:
        """Let the processes share the work on a model: copies (DDP) or shards (FSDP2) of it."""
        if self.world == 1:
            return model
        if self.shards:
            warnings.filterwarnings("ignore", "FSDP2-wrapped module")  # about in-place changes of its output: none here
            still = {weight for weight in model.parameters() if not weight.requires_grad}  # each process keeps its own
            fully_shard(model, mesh=init_device_mesh(self.device.type, (self.world,)), ignored_params=still)
            return model
        return DistributedDataParallel(model, gradient_as_bucket_view=True)

    def keep_gradients_local(self, model: nn.Module) -> AbstractContextManager[Any]:
        """While gradients pile up over several batches, only the last needs to be shared."""
        return model.no_sync() if isinstance(model, DistributedDataParallel) else nullcontext()

    def clip(self, model: nn.Module, longest: float) -> Tensor:
        """Shorten the gradient to `longest` (0: leave it) and return its length before."""
        norm = nn.utils.clip_grad_norm_(model.parameters(), longest or float("inf"))
        return norm.full_tensor() if isinstance(norm, DTensor) else norm

    def total(self, numbers: list[float]) -> list[float]:
        """Sums over all processes."""
        if self.world == 1:
            return numbers
        sums = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        dist.all_reduce(sums)
        return [float(one) for one in sums.tolist()]

    def from_leader(self, numbers: list[float]) -> list[float]:
        """The leader's numbers, so that every process decides alike."""
        if self.world == 1:
            return numbers
        values = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        dist.broadcast(values, 0)
        return [float(one) for one in values.tolist()]

    def bytes_from_leader(self, content: bytes) -> bytes:
        """The leader's bytes, for everybody."""
        if self.world == 1:
            return content
        size = int(self.from_leader([len(content)])[0])
        shared = torch.frombuffer(bytearray(content if self.leads else size), dtype=torch.uint8).to(self.device)
        dist.broadcast(shared, 0)
        return shared.cpu().numpy().tobytes()

    def tensors_from_leader(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """The leader's tensors, for everybody in the same order, in which they will be handed to collective calls."""
        return tensors if self.world == 1 else dict(sorted(load(self.bytes_from_leader(save(tensors))).items()))

    def agree(self, text: str) -> bool:
        """Whether all processes came with the same text."""
        leaders = self.bytes_from_leader(text.encode())
        return self.total([float(leaders != text.encode())]) == [0.0]

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """Every process's tensor, in the order of ranks; all of one shape."""
        if self.world == 1:
            return [tensor]
        everyones = [torch.empty_like(tensor, device=self.device) for _ in range(self.world)]
        dist.all_gather(everyones, tensor.to(self.device))
        return [one.to(tensor.device) for one in everyones]

    def whole_weights(self, model: nn.Module, names: Iterable[str]) -> dict[str, Tensor]:
        """Copies of the named weights on every process's CPU, however the model is spread; a collective call."""
        weights: dict[str, Any] = get_model_state_dict(model, options=WHOLE)
        return {name: weights[name].detach().to("cpu", copy=True) for name in names}

    def load_weights(self, model: nn.Module, weights: dict[str, Any]) -> None:
        set_model_state_dict(model, weights, options=TIED)

    def optimiser_tensors(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
        """The optimiser's tensors as `weight/statistic`, for the leader; a collective call."""
        state: Any = get_optimizer_state_dict(model, optimiser, options=LEADERS).get("state", {})
        return {f"{name}/{kind}": one for name, statistics in state.items() for kind, one in statistics.items()}

    def load_optimiser(self, model: nn.Module, optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
        state: dict[str, Any] = {}
        for key, value in tensors.items():
            name, _, kind = key.rpartition("/")
            state.setdefault(name, {})[kind] = value
        groups = get_optimizer_state_dict(model, optimiser, options=WHOLE)["param_groups"]
        set_optimizer_state_dict(model, optimiser, {"state": state, "param_groups": groups}, options=WHOLE)

    def close(self) -> None:
        """The group is over, but never freed: gloo then joins its threads, and one that wants the interpreter's lock at
        this moment waits for us as we wait for it."""
        if dist.is_initialized():
            CLOSED.append(dist.group.WORLD)
            dist.destroy_process_group()
