"""Recipe files: a task's own, and perhaps a variant's laid over it; with overrides, a resolved recipe."""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import UsageError
from regard.fitting import check_model
from regard.recipe import Recipe
from regard.settings import build, check_name, flatten, neighbour, parse_yaml


class Layer(NamedTuple):
    """One recipe file: fixed options, and lines of `scale` that depend on the amount of data."""

    options: dict[str, Any]
    scale: list[dict[str, Any]]  # {up_to: pairs or None, set: {option: value}}, smallest first

    def chosen(self, pairs: int) -> dict[str, Any]:
        """The options for this many pairs: the first line of `scale` that fits is laid over the fixed ones."""
        fitting = [line["set"] for line in self.scale if line["up_to"] is None or pairs <= line["up_to"]]
        return {**self.options, **(fitting[0] if fitting else {})}


class Draft:
    """A recipe before the amount of data is known: a task's own file, and perhaps a variant's laid over it."""

    def __init__(self, name: str, layers: Sequence[Layer]):
        self.name = name
        self.layers = list(layers)

    def resolve(self, pairs: int, overrides: Mapping[str, Any]) -> Recipe:
        chosen: dict[str, Any] = {}
        for layer in self.layers:
            chosen.update(layer.chosen(pairs))
        return self._checked({**chosen, **overrides})

    def unscaled(self, overrides: Mapping[str, Any]) -> Recipe:
        """The recipe before any data was read: which columns and symbols there are never depends on the amount."""
        chosen = {key: value for layer in self.layers for key, value in layer.options.items()}
        return self._checked({**chosen, **overrides})

    def _checked(self, options: Mapping[str, Any]) -> Recipe:
        """What is about to be trained is held to more than what was: a stored recipe need only be well formed."""
        recipe = build(options, self.name)
        try:
            check_model(recipe.model)
        except UsageError as error:
            raise UsageError(f"{self.name}: {error}") from error
        return recipe


def load_draft(name: str, task: str | None = None) -> Draft:
    """A recipe by its name in the package, or by the path of a YAML file.

    A recipe that names no task is a variant: it is laid over the recipe of the task at hand.
    """
    layer = _layer(name)
    own = layer.options.get("task")
    if own is None:
        return Draft(name, [_layer(task or "pronounce"), layer])
    if task is not None and own != task:
        raise UsageError(f"recipe {name} is for the task {own}, not {task}")
    return Draft(name, [layer])


def _layer(name: str) -> Layer:
    content = parse_yaml(_recipe_text(name), name) or {}
    if not isinstance(content, dict):
        raise UsageError(f"{name} should hold options by name, as in `model: {{hidden: 256}}`")
    scale = _checked_scale(content.pop("scale", []), name)
    options = dict(flatten(content))
    for key in [*options, *(key for line in scale for key in line["set"])]:
        check_name(key, name)
    return Layer(options, scale)


def _recipe_text(name: str) -> str:
    if name in recipe_names():
        return resources.files("regard").joinpath("recipes", f"{name}.yaml").read_text("utf-8")
    if Path(name).suffix not in (".yaml", ".yml") or not Path(name).is_file():
        hint = neighbour(name, recipe_names())
        raise UsageError(f"there is no recipe {name!r}{hint or ';'} `regard recipes` lists them, or give a .yaml file")
    try:
        return Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {name}: {error}") from error


def recipe_names() -> list[str]:
    files = resources.files("regard").joinpath("recipes").iterdir()
    return sorted(one.name.removesuffix(".yaml") for one in files if one.name.endswith(".yaml"))


def _checked_scale(lines: Any, name: str) -> list[dict[str, Any]]:
    """`scale` is a list of {up_to: pairs or null, set: {option: value}}, smallest first."""
    checked = []
    for line in lines if isinstance(lines, list) else [lines]:
        fits = isinstance(line, dict) and set(line) == {"up_to", "set"} and isinstance(line["set"], dict)
        if not fits or not isinstance(line["up_to"], int | None):
            raise UsageError(f"{name}: each line of scale should be {{up_to: number of pairs or null, set: {{…}}}}")
        checked.append({"up_to": line["up_to"], "set": dict(flatten(line["set"]))})
    return checked
