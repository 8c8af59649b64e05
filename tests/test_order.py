"""Rooms are read in the order that `regard/__init__.py` gives, and each leans only on those before it."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import regard

HOUSE = Path(regard.__file__).parent
FILES = sorted(HOUSE.rglob("*.py"))
DOORS = ("__init__", "__main__")  # the way in is no room: it knows all of them


def reading_order() -> list[str]:
    told = " ".join((regard.__doc__ or "").split())
    return told.partition("the way data walks: ")[2].partition(". Each")[0].split(", ")


def room(path: Path) -> str:
    return path.relative_to(HOUSE).parts[0].removesuffix(".py")


def module(path: Path) -> str:
    parts = path.relative_to(HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """What a file imports of this package, inside functions too."""
    modules = {module(one) for one in FILES}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.partition(".")[0] == "regard")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{one.name}" for one in node.names]
            yield from (one if one in modules else str(node.module) for one in names if one.startswith("regard."))


def test_the_order_names_every_room_once() -> None:
    rooms = {room(path) for path in FILES} - set(DOORS)
    assert sorted(reading_order()) == sorted(rooms)


@pytest.mark.parametrize("name", reading_order())
def test_a_room_leans_only_on_those_before_it(name: str) -> None:
    before = reading_order()[: reading_order().index(name)]
    for path in FILES:
        if room(path) == name:
            leans = {one.split(".")[1] for one in imports(path) if one != "regard"} - {name}
            assert leans <= set(before), f"{path.relative_to(HOUSE)} imports {leans - set(before)}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {module(path): set(imports(path)) - {"regard"} for path in FILES if room(path) not in DOORS}
    order = list(TopologicalSorter(graph).static_order())  # a CycleError names the circle
    assert set(order) == set(graph)


def test_the_checker_sees_imports() -> None:
    found = set(imports(HOUSE / "training" / "loop.py"))
    assert {"regard.folder", "regard.training.engine", "regard.data.batching"} <= found
    assert "regard.recipe" in set(imports(HOUSE / "cli" / "recipes.py"))  # inside a function
