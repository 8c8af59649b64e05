"""Options by their dotted names: as YAML, as `key=value`, and from there to a checked recipe."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from regard.errors import UsageError
from regard.recipe import Recipe, option_names


def build(options: Mapping[str, Any], name: str) -> Recipe:
    """Dotted options → a checked recipe; every wrong value is named."""
    for key in options:
        check_name(key, name)
    try:
        return _checker().validate_python(unflatten(options))
    except ValidationError as error:
        wrong = {".".join(map(str, one["loc"][:2])): one for one in error.errors()}
        shown = [f"{key}: {one['msg']}, got {one['input']!r:.40}" for key, one in wrong.items()]
        raise UsageError(f"{name}: " + "; ".join(shown)) from error


@cache
def _checker() -> TypeAdapter[Recipe]:
    return TypeAdapter(Recipe)


def parse_overrides(settings: Sequence[str]) -> dict[str, Any]:
    """`model.hidden=256` → {"model.hidden": 256}; values are read as YAML."""
    chosen: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting}: expected key=value, as in --set model.hidden=256")
        check_name(key.strip(), "--set")
        found = parse_yaml(value, f"--set {key.strip()}")
        # a column may be called no, which YAML takes for false, or like a date
        named = key.strip().endswith("_column") and (isinstance(found, bool) or not isinstance(found, int | str | None))
        chosen[key.strip()] = value.strip() if named else found
    return chosen


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a few lines of them can stand for more than all memory holds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not allowed")
        return super().compose_node(parent, index)


def parse_yaml(text: str, name: str) -> Any:
    try:
        return yaml.load(text, _PlainLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date such as 2020-99-99
        raise UsageError(f"{name}: this is not YAML: {' '.join(str(error).split())}") from error


def check_name(key: str, where: str) -> None:
    names = option_names()
    if key not in names:
        section, _, last = key.rpartition(".")
        siblings = {name.rpartition(".")[2]: name for name in names if name.rpartition(".")[0] == section}
        near = difflib.get_close_matches(last, siblings, 1)
        hint = (
            f"; did you mean {near[0]}?"
            if near
            else neighbour(last, [name.rpartition(".")[2] for name in names], names)
        )
        raise UsageError(f"{where}: {key} is not an option{hint}")


def neighbour(word: str, choices: Sequence[str], shown: Sequence[str] | None = None) -> str:
    near = difflib.get_close_matches(word, choices, 1)
    return f"; did you mean {(shown or choices)[list(choices).index(near[0])]}?" if near else ""


def flatten(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def unflatten(options: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in options.items():
        section, dot, last = key.rpartition(".")
        (content.setdefault(section, {}) if dot else content)[last] = value
    return content
