"""A task's module holds what the protocol lists, some of it imported from its family, and imports nothing in vain."""

import ast
from pathlib import Path

import pytest

from regard import tasks
from regard.tasks import TASKS, Task, Writer, get_task

LISTED = {*Task.__annotations__, *(name for one in (Task, Writer) for name in vars(one) if not name.startswith("_"))}
FILES = sorted(Path(tasks.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("name", TASKS)
def test_a_task_holds_what_the_protocol_lists(name: str) -> None:
    module = get_task(name)
    assert [one for one in LISTED - {"force"} if not hasattr(module, one)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_imported_in_vain(path: Path) -> None:
    handed_on = LISTED if path.stem in TASKS else {"Request"}  # whoever asks a writer says what by sequence.Request
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    imports = [one for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for one in node.names]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    assert {(one.asname or one.name).partition(".")[0] for one in imports} - used - handed_on == set()
