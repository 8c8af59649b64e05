"""What a comparison will do, checked before anything is trained: which recipes, with which options, on which pairs.

A recipe is written as its name or YAML file, and may carry changes of its own: `pronounce+model.score=dot`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from regard.analysis.compare.pairs import Corpus, read_corpus
from regard.data.readers import Example
from regard.draft import Draft, load_draft
from regard.errors import UsageError
from regard.folder import Folder
from regard.model import hollow
from regard.recipe import Recipe, Side, describe
from regard.settings import check_name, parse_yaml
from regard.tasks import Task, get_task
from regard.tasks.checking import check_options

FREE = {"about", "training.seed", "training.save_seconds", "training.tensorboard"}  # what no number depends on
PROBE = 10  # pairs whose vocabulary is enough to see whether the parts of a model fit together


class Variant(NamedTuple):
    """A recipe as it was asked for."""

    name: str  # in tables and pictures
    recipe: str  # a name that `regard recipes` lists, or a YAML file
    changes: dict[str, Any]


class System(NamedTuple):
    """A recipe ready to be trained, with any seed."""

    variant: Variant
    overrides: dict[str, Any]  # what holds for all, and the variant's changes laid over it
    recipe: Recipe  # resolved for the pairs at hand
    path: Path  # its runs are seed-1, seed-2, … in there

    @property
    def name(self) -> str:
        return self.variant.name

    def run(self, seed: int) -> Folder:
        return Folder(self.path / f"seed-{seed}")


class Plan(NamedTuple):
    task: Task
    systems: list[System]
    seeds: list[int]
    corpus: Corpus


def split_list(text: str) -> list[str]:
    """`a,b+model.terms=[location,coverage]` → two texts: commas inside brackets belong to a value."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text) if part.strip()]


def vary(recipes: Sequence[str], settings: Sequence[str]) -> list[str]:
    """Every recipe with every value of `model.score=dot,additive`; several such settings are crossed."""
    for setting in settings:
        key, equals, values = setting.partition("=")
        if not equals or not values:
            raise UsageError(f"--vary {setting}: expected key=value,value…, as in --vary model.score=dot,additive")
        recipes = [f"{recipe}+{key.strip()}={value}" for recipe in recipes for value in split_list(values)]
    return list(recipes)


def parse_variant(text: str, task: str) -> Variant:
    """`luong+model.score=dot` → luong with one change; without a name before the plus, the task's own recipe."""
    recipe, *changes = re.split(r"\+(?=[\w.]+=)", text)
    recipe = recipe or task
    shown = Path(recipe).stem if Path(recipe).suffix in (".yaml", ".yml") else recipe
    return Variant("+".join([shown, *changes]), recipe, dict(_change(one, text) for one in changes))


def _change(setting: str, text: str) -> tuple[str, Any]:
    key, _, value = setting.partition("=")
    check_name(key, text)
    return key, parse_yaml(value, text)


def make_plan(
    pairs: str | Sequence[str],
    task: str,
    recipes: Sequence[str],
    seeds: Sequence[int],
    out: Path,
    dev: str | Sequence[str] | None,
    test: str | Sequence[str] | None,
    overrides: Mapping[str, Any],
    skip_bad_lines: bool,
) -> Plan:
    module = get_task(task)
    variants = [parse_variant(text, task) for text in recipes]
    _check_seeds(seeds, [overrides, *(one.changes for one in variants)])
    drafts = [load_draft(one.recipe, task) for one in variants]
    options = [{**overrides, **one.changes} for one in variants]
    early = [draft.unscaled(chosen) for draft, chosen in zip(drafts, options, strict=True)]
    _check_alike(variants, early)
    corpus = read_corpus(module, pairs, dev, test, early[0], skip_bad_lines)
    systems = [
        _system(variant, draft, chosen, out, corpus)
        for variant, draft, chosen in zip(variants, drafts, options, strict=True)
    ]
    _check_folders(systems)
    for system in systems:
        _check_parts(module, system, corpus.train)
        for seed in seeds:
            _check_unchanged(system, seed)
    return Plan(module, systems, list(seeds), corpus)


def _system(variant: Variant, draft: Draft, overrides: dict[str, Any], out: Path, corpus: Corpus) -> System:
    recipe = draft.resolve(len(corpus.train), overrides)
    return System(variant, overrides, recipe, out / re.sub(r"[^\w.=+-]", "_", variant.name))


def _check_seeds(seeds: Sequence[int], changes: Sequence[Mapping[str, Any]]) -> None:
    if not seeds or len(set(seeds)) < len(seeds):
        raise UsageError(
            f"seeds {', '.join(map(str, seeds)) or '(none)'} came; expected different numbers, as in 1,2,3"
        )
    if any("training.seed" in one for one in changes):
        raise UsageError("training.seed cannot be set here: --seeds says which seeds every recipe is trained with")


def _check_alike(variants: Sequence[Variant], recipes: Sequence[Recipe]) -> None:
    """Answers can be compared only where all recipes read the same sources and targets."""
    if not variants:
        raise UsageError("there is nothing to compare: name recipes, as in --recipes bahdanau,luong,no-attention")
    first = {line.name: line.default for line in describe(recipes[0])}
    for variant, recipe in zip(variants, recipes, strict=True):
        for line in describe(recipe):
            if line.name.startswith("data.") and line.default != first[line.name]:
                raise UsageError(
                    f"{variant.name} has {line.name}={line.default}, {variants[0].name} has {first[line.name]}: they "
                    "would read different pairs; options of data must be alike (--set changes all)"
                )


def _check_folders(systems: Sequence[System]) -> None:
    seen: dict[Path, System] = {}
    for system in systems:
        other = seen.setdefault(system.path, system)
        if other is not system:
            raise UsageError(
                f"{other.name} and {system.name} would share the folder {system.path}: name each recipe once, and "
                "give YAML files different names"
            )


def _check_parts(module: Task, system: System, train: Sequence[Example]) -> None:
    """Whether every option is of use and the parts fit together; the sizes of vocabularies do not matter for that."""
    cheap = replace(system.recipe, source=Side(), target=Side())  # without subwords to learn
    try:
        check_options(module, system.recipe)
        codec = module.codec(_probe(train), cheap)
        with hollow():
            module.build(codec, system.recipe)
    except UsageError as error:
        raise UsageError(f"{system.name}: {error}") from error


def _probe(train: Sequence[Example]) -> list[Example]:
    """The first pairs, another target than theirs if there is one, and a pair whose links or place are known."""
    few = list(train[:PROBE])
    known = {one.target for one in few}
    more = (one for one in train if one.target not in known), (one for one in train if one.where)
    return few + [found for found in (next(several, None) for several in more) if found]


def _check_unchanged(system: System, seed: int) -> None:
    """A run that is there was made with the options of this call."""
    folder = system.run(seed)
    if not (folder.path / "recipe.yaml").exists():
        return
    stored = {line.name: line.default for line in describe(folder.read_recipe())}
    for line in describe(system.recipe):
        if line.name not in FREE and stored[line.name] != line.default:
            raise UsageError(
                f"{folder.path} was made with {line.name}={stored[line.name]}, now it is {line.default}: use the same "
                "options, or another folder (-o)"
            )
