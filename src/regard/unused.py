"""Better an error than an option that does nothing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from regard.errors import UsageError
from regard.recipe import Recipe, to_dict
from regard.settings import flatten

Unused = Mapping[tuple[str, Any], Sequence[str]]  # where an option has this value, those do nothing
OFF = {"training.smoothing": 0.0}  # what asks for nothing, where the default asks for something
SILENT = {"search.ctc": 0.0, "search.reverse": 0.0}  # who is not to be asked need not be there


def refuse_unused(recipe: Recipe, unused: Unused) -> None:
    """What does nothing must be as it is by default, or ask for nothing: a recipe has a value for everything."""
    given, idle = dict(flatten(to_dict(recipe))), dict(flatten(to_dict(Recipe()))) | OFF
    for (option, value), names in unused.items():
        asked = [name for name in names if name not in SILENT or given[name] != SILENT[name]]
        changed = [name for name in asked if given[name] != idle[name]] if given[option] == value else []
        if changed:
            came, back = (", ".join(_setting(name, of[name]) for name in changed) for of in (given, idle))
            place = f"in the task {value}" if option == "task" else f"with {_setting(option, value)}"
            other = "" if option == "task" else f", or choose another {option}"
            raise UsageError(f"{came} {'do' if changed[1:] else 'does'} nothing {place}: set {back}{other}")


def within(section: str, *names: str) -> tuple[str, ...]:
    """model, heads, terms → model.heads, model.terms"""
    return tuple(f"{section}.{name}" for name in names)


def _setting(name: str, value: Any) -> str:
    """As --set takes it."""
    return f"{name}={json.dumps(value, ensure_ascii=False)}".replace('"', "")
