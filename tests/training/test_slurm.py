"""SLURM's names → torchrun's."""

import pytest

from regard.training.slurm import first_host, torchrun_names

STEP = {
    "SLURM_JOB_ID": "1234567",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "1",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_STEP_NODELIST": "gpu[07-08]",
}


def test_a_step_of_several_tasks_is_a_group() -> None:
    assert torchrun_names(STEP) == {
        "RANK": "3",
        "WORLD_SIZE": "4",
        "LOCAL_RANK": "1",
        "MASTER_ADDR": "gpu07",
        "MASTER_PORT": "24567",
    }


def test_every_task_finds_the_same_meeting_point() -> None:
    other = torchrun_names({**STEP, "SLURM_PROCID": "0", "SLURM_LOCALID": "0"})
    assert {key: other[key] for key in ("MASTER_ADDR", "MASTER_PORT")}.items() <= torchrun_names(STEP).items()


def test_a_meeting_point_that_was_given_stays() -> None:
    names = torchrun_names({**STEP, "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "5000"})
    assert (names["MASTER_ADDR"], names["MASTER_PORT"]) == ("10.0.0.1", "5000")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {**STEP, "SLURM_STEP_NUM_TASKS": "1"},
        {**STEP, "RANK": "0", "WORLD_SIZE": "2"},  # srun torchrun: torchrun knows better
        {"SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_JOB_ID": "1"},  # a batch script, outside any step
    ],
)
def test_otherwise_nothing_is_changed(environment: dict[str, str]) -> None:
    assert torchrun_names(environment) == {}


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("gpu07", "gpu07"),
        ("gpu07,gpu09", "gpu07"),
        ("gpu[07-09,12],big1", "gpu07"),
        ("gpu[3,5]", "gpu3"),
        ("rack-a-[001-004]", "rack-a-001"),
        ("r[1-2]n[01-04].cluster", "r1n01.cluster"),
    ],
)
def test_the_first_machine_of_a_list(nodes: str, first: str) -> None:
    assert first_host(nodes) == first
