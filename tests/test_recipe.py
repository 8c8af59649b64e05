"""Recipe file and overrides in, checked and resolved copy out."""

import dataclasses
import typing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import UsageError
from regard.recipe import (
    Recipe,
    build,
    describe,
    flatten,
    load_draft,
    neighbour,
    option_names,
    parse_overrides,
    recipe_names,
    to_dict,
    unflatten,
)
from regard.tasks import TASKS


def test_every_option_has_a_place_a_type_a_default_and_a_meaning() -> None:
    lines = describe(Recipe())
    assert len({line.name for line in lines}) == len(lines)
    assert {line.name for line in lines} == set(dict(flatten(to_dict(Recipe()))))
    for line in lines:
        assert line.meaning, line.name
        assert line.kind, line.name
        assert "Annotated" not in line.kind
        assert "typing" not in line.kind
    assert {line.name: line.kind for line in lines}["model.cell"] == "one of [tanh, sigmoid, gru, lstm, lstmn]"


def test_every_number_has_a_range() -> None:
    """Without one, a typo such as 0 or -1 would fail deep inside, or train nonsense."""
    free = {"training.seed", "data.dev_share"}  # any seed is a seed; the split checks its share
    hints = {"": typing.get_type_hints(Recipe, include_extras=True)}
    for one in dataclasses.fields(Recipe):
        if dataclasses.is_dataclass(hints[""][one.name]):
            hints[one.name] = typing.get_type_hints(hints[""][one.name], include_extras=True)
    for section, fields in hints.items():
        for name, hint in fields.items():
            if hint in (int, float):
                assert f"{section}.{name}" in free


def test_defaults_pass_their_own_check() -> None:
    assert build({}, "nothing") == Recipe()
    assert build(dict(flatten(to_dict(Recipe()))), "everything") == Recipe()


@pytest.mark.parametrize("name", recipe_names())
@pytest.mark.parametrize("task", TASKS)
def test_every_recipe_of_the_package_resolves_for_every_amount_of_data(name: str, task: str) -> None:
    draft = load_draft(name)
    if draft.layers[-1].options.get("task") is None:
        draft = load_draft(name, task)
        assert len(draft.layers) == 2
    for pairs in (1, 1_000, 100_000, 10_000_000):
        recipe = draft.resolve(pairs, {})
        assert recipe.about
        assert recipe.task in TASKS
        assert recipe.about == load_draft(name).unscaled({}).about


def test_a_variant_is_laid_over_the_task() -> None:
    recipe = load_draft("tiny", "pronounce").unscaled({})
    assert recipe.task == "pronounce"
    assert recipe.target.symbols == "tokens"  # from pronounce.yaml
    assert recipe.model.hidden == 64  # from tiny.yaml
    assert load_draft("tiny", "inflect").unscaled({}).data.features_column == 3


def test_a_recipe_is_for_one_task() -> None:
    with pytest.raises(UsageError, match="recipe inflect is for the task inflect, not translate"):
        load_draft("inflect", "translate")


def test_overrides_win(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("model: {hidden: 100}\nscale:\n- {up_to: 10, set: {model.hidden: 50}}\n")
    draft = load_draft(str(tmp_path / "mine.yaml"), "pronounce")
    assert draft.resolve(11, {}).model.hidden == 100
    assert draft.resolve(10, {}).model.hidden == 50
    assert draft.unscaled({}).model.hidden == 100
    assert draft.resolve(10, {"model.hidden": 7}).model.hidden == 7


def test_scale_takes_the_first_line_that_fits(tmp_path: Path) -> None:
    lines = "scale:\n- {up_to: 10, set: {model.embed: 1}}\n- {up_to: 20, set: {model: {embed: 2}}}\n"
    (tmp_path / "mine.yaml").write_text(lines + "- {up_to: null, set: {model.embed: 3}}\n")
    draft = load_draft(str(tmp_path / "mine.yaml"), "pronounce")
    assert [draft.resolve(pairs, {}).model.embed for pairs in (1, 10, 11, 20, 21, 10**9)] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("model.hidden=256", 256),
        ("training.learning_rate=1e-3", "1e-3"),  # YAML's text; the check below makes it a number
        ("model.terms=[location, coverage]", ["location", "coverage"]),
        ("data.features_column=null", None),
        ("data.source_column=lemma", "lemma"),
        ("model.attention=none", "none"),
        (" model.tie = yes", True),
        ("about=a=b", "a=b"),
        ("about=", None),
    ],
)
def test_overrides_are_yaml(setting: str, expected: object) -> None:
    assert list(parse_overrides([setting]).values()) == [expected]


def test_numbers_may_come_as_text() -> None:
    assert (
        build(parse_overrides(["training.learning_rate=1e-3", "model.hidden='64'"]), "x").training.learning_rate == 1e-3
    )


def test_the_last_override_counts() -> None:
    assert parse_overrides(["model.hidden=1", "model.hidden=2"]) == {"model.hidden": 2}


@pytest.mark.parametrize("where", ["set", "draft", "build"])
def test_an_unknown_option_names_its_neighbour_wherever_it_comes_from(where: str) -> None:
    calls: dict[str, Any] = {
        "set": lambda: parse_overrides(["model.hiden=3"]),
        "draft": lambda: load_draft("tiny", "pronounce").unscaled({"model.hiden": 3}),
        "build": lambda: build({"model.hiden": 3}, "recipe.yaml"),
    }
    with pytest.raises(UsageError, match=r"model\.hiden is not an option; did you mean hidden\?"):
        calls[where]()


@given(st.sampled_from(option_names()), st.integers(0, 30), st.sampled_from("aeinrst_."))
def test_a_slip_of_the_finger_is_never_accepted_in_silence(name: str, place: int, letter: str) -> None:
    slip = name[: place % len(name)] + letter + name[place % len(name) :]
    if slip not in option_names():
        with pytest.raises(UsageError, match="is not an option"):
            build({slip: 1}, "x")


def test_all_wrong_values_are_named_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        build({"model.hidden": "x" * 1000, "training.epochs": 0, "model.cell": "gru"}, "mine.yaml")
    assert str(caught.value).startswith("mine.yaml: model.hidden: ")
    assert "training.epochs" in str(caught.value)
    assert "cell" not in str(caught.value)
    assert len(str(caught.value)) < 300


@given(st.dictionaries(st.sampled_from(option_names()), st.integers()))
def test_flatten_undoes_unflatten(options: dict[str, int]) -> None:
    assert dict(flatten(unflatten(options))) == options


def test_neighbours() -> None:
    assert neighbour("bahdanaw", recipe_names()) == "; did you mean bahdanau?"
    assert neighbour("zzz", recipe_names()) == ""
