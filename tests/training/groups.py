"""Training by several processes on this machine, started as torchrun and SLURM start them."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LIMIT = 120  # seconds, of which nearly all are imports


class Failed(AssertionError):
    """A group that should have finished did not; says what its processes last wrote."""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def train_command(pairs: Path, dev: Path, out: Path, options: Mapping[str, Any], *others: str) -> list[str]:
    fixed = ["--task=pronounce", "--recipe=tiny", f"--dev={dev}", f"--out={out}", "--device=cpu", "--quiet"]
    settings = [f"--set={key}={value}" for key, value in options.items()]
    return ["-m", "regard", "train", str(pairs), *fixed, *settings, *others]


def launch(command: list[str], **environment: str) -> subprocess.Popen[str]:
    everything = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1", **environment}
    return subprocess.Popen([sys.executable, *command], env=everything, stderr=subprocess.PIPE, text=True)


def torchrun(processes: int, command: list[str]) -> subprocess.Popen[str]:
    return launch(["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", *command])


def nodes(commands: list[list[str]]) -> list[subprocess.Popen[str]]:
    """One torchrun with one process for each command, as if each were on a machine of its own."""
    fixed = [
        f"--nnodes={len(commands)}",
        "--nproc-per-node=1",
        "--master-addr=127.0.0.1",
        f"--master-port={free_port()}",
    ]
    head = ["-m", "torch.distributed.run", *fixed]
    return [launch([*head, f"--node-rank={rank}", *command]) for rank, command in enumerate(commands)]


def srun(tasks: int, command: list[str]) -> list[subprocess.Popen[str]]:
    """What `srun --ntasks` does to the environment, on one machine."""
    names = {"SLURM_JOB_ID": "1", "SLURM_STEP_NUM_TASKS": str(tasks), "SLURM_STEP_NODELIST": "localhost"}
    names |= {"MASTER_PORT": str(free_port())}
    ranks = [{"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank)} for rank in range(tasks)]
    return [launch(command, **names, **rank) for rank in ranks]


def finish(processes: list[subprocess.Popen[str]]) -> None:
    ends = [_end(process) for process in processes]
    if any(process.returncode for process in processes):
        raise Failed("\n".join(ends))


def kill_one(launcher: subprocess.Popen[str], log: Path) -> None:
    """kill -9 one of torchrun's processes once the log has an epoch, in the middle of the next."""
    while not (log.exists() and log.stat().st_size):
        if launcher.poll() is not None:
            raise Failed(launcher.communicate()[1])
        time.sleep(0.01)
    os.kill(_children(launcher)[-1], signal.SIGKILL)
    _end(launcher)
    assert launcher.returncode != 0


def _end(process: subprocess.Popen[str]) -> str:
    """What it wrote by its end; who hangs is made to say where (faulthandler prints every thread's stack)."""
    try:
        return process.communicate(timeout=LIMIT)[1]
    except subprocess.TimeoutExpired:
        for number in [*_children(process), process.pid]:
            os.kill(number, signal.SIGABRT)
        return f"hung for {LIMIT} s\n{process.communicate()[1]}"


def _children(launcher: subprocess.Popen[str]) -> list[int]:
    return [int(number) for number in Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split()]
