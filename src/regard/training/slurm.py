"""Under SLURM without torchrun: `srun regard train …` starts the processes, and SLURM's names say who each is."""

import re
from collections.abc import Mapping


def torchrun_names(environment: Mapping[str, str]) -> dict[str, str]:
    """RANK, WORLD_SIZE and the meeting point as torchrun would set them; {} where srun did not start several.

    Only a step's own count is looked at: in a batch script, where one process waits for no others, the job's count is
    set as well.
    """
    if "RANK" in environment or int(environment.get("SLURM_STEP_NUM_TASKS", "1")) == 1:
        return {}
    return {
        "RANK": environment["SLURM_PROCID"],
        "WORLD_SIZE": environment["SLURM_STEP_NUM_TASKS"],
        "LOCAL_RANK": environment["SLURM_LOCALID"],
        "MASTER_ADDR": environment.get("MASTER_ADDR", first_host(environment["SLURM_STEP_NODELIST"])),
        "MASTER_PORT": environment.get("MASTER_PORT", str(20_000 + int(environment["SLURM_JOB_ID"]) % 10_000)),
    }


def first_host(nodes: str) -> str:
    """SLURM's list of machines → the first: `gpu[07-09,12],big1` → gpu07."""
    return re.sub(r"\[([0-9]+)[^\]]*\]", r"\1", re.split(r",(?![^\[]*\])", nodes)[0])
