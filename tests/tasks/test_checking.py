"""Options that would do nothing in a task are refused, and every other may be set."""

from typing import Any

import pytest

from regard.draft import load_draft
from regard.errors import UsageError
from regard.recipe import option_names
from regard.tasks import TASKS, get_task
from regard.tasks.checking import check_options


def check(task: str, options: dict[str, Any]) -> None:
    check_options(get_task(task), load_draft(task).unscaled(options))


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_a_use_for_its_own_recipe(task: str) -> None:
    check(task, {})
    for several in get_task(task).UNUSED.values():
        assert set(several) <= set(option_names())


@pytest.mark.parametrize(
    "options",
    [{"heads": 2}, {"terms": ("coverage",)}, {"window": 2}, {"normalise": "sparsemax"}, {"query": "current"},
     {"input_feeding": True}, {"residual": True}],
)  # fmt: skip
def test_monotonic_attention_refuses_what_it_would_ignore(options: dict[str, Any]) -> None:
    given = {f"model.{name}": value for name, value in options.items()}
    check("pronounce", given)  # soft attention has a use for each of them
    with pytest.raises(UsageError, match=rf"^model.{next(iter(options))}=\S+ does nothing with .*attention=monotonic"):
        check("pronounce", {"model.attention": "monotonic", **given})


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        ("pronounce", {"model.attention": "abs", "model.tie": True}, "model.tie=true does nothing"),
        ("pronounce", {"model.attention": "abs", "model.input_feeding": True}, "model.input_feeding=true does nothing"),
        ("pronounce", {"model.cell": "lstmn", "model.input_feeding": True}, "does nothing with model.cell=lstmn"),
        ("pronounce", {"model.cell": "lstmn", "model.residual": True}, "does nothing with model.cell=lstmn"),
        ("pronounce", {"dialog.turns": 1}, "dialog.turns=1 does nothing in the task pronounce"),
        ("classify", {"model.cell": "lstmn", "model.residual": True}, "does nothing with model.cell=lstmn"),
        ("classify", {"model.compare": 7}, "model.compare=7 does nothing with model.cell=lstm:"),
        ("read", {"model.heads": 2}, "model.heads=2 does nothing in the task read"),
        ("fill", {"model.readout": 3}, "model.readout=3 does nothing in the task fill"),
        ("fill", {"training.smoothing": 0.1}, "training.smoothing=0.1 does nothing in the task fill"),
        ("classify", {"data.where_column": 3}, "data.where_column=3 does nothing in the task classify"),
    ],
)
def test_what_does_nothing_is_refused(task: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check(task, options)


def test_an_lstmn_that_reads_is_told_its_size() -> None:
    check("classify", {"model.cell": "lstmn", "model.compare": 7})
