"""Dotted options as YAML and as `key=value`, and wrong ones named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.draft import recipe_names
from regard.errors import UsageError
from regard.recipe import Recipe, option_names, to_dict
from regard.settings import build, flatten, neighbour, parse_overrides, unflatten


def test_defaults_pass_their_own_check() -> None:
    assert build({}, "nothing") == Recipe()
    assert build(dict(flatten(to_dict(Recipe()))), "everything") == Recipe()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("model.hidden=256", 256),
        ("training.learning_rate=1e-3", "1e-3"),  # YAML's text; the check below makes it a number
        ("model.terms=[location, coverage]", ["location", "coverage"]),
        ("data.features_column=null", None),
        ("data.source_column=lemma", "lemma"),
        ("data.target_column=no", "no"),  # a language, which YAML takes for false
        ("data.target_column=2020-01-01", "2020-01-01"),
        ("data.target_column=3", 3),
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


def test_a_column_is_neither_true_nor_false() -> None:
    with pytest.raises(UsageError, match=r"data\.target_column"):
        build({"data.target_column": True}, "recipe.yaml")


def test_the_last_override_counts() -> None:
    assert parse_overrides(["model.hidden=1", "model.hidden=2"]) == {"model.hidden": 2}


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
