"""Recipe file and overrides in, checked and resolved copy out."""

from pathlib import Path
from typing import Any

import pytest

from regard.draft import load_draft, recipe_names
from regard.errors import UsageError
from regard.settings import build, parse_overrides
from regard.tasks import TASKS

# Two cells around an attention neither copy nor look back at all their states; a gate has no place beside a sentinel.
CANNOT = {("transcribe", name) for name in ("copy", "sentinel", "lstmn", "read-plain")} | {("caption", "sentinel")}


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_of_the_package_resolves_for_every_amount_of_data(name: str) -> None:
    """For its own task; where it has none, for all."""
    alone = load_draft(name)
    about, own = alone.unscaled({}).about, alone.layers[-1].options.get("task")
    assert about
    for task in TASKS if own is None else [own]:
        draft = load_draft(name, task) if own is None else alone
        assert len(draft.layers) == (2 if own is None else 1)
        if (task, name) in CANNOT:
            with pytest.raises(UsageError, match=r"model\.query=between|model\.gate"):
                draft.resolve(1, {})
            continue
        for pairs in (1, 1_000, 100_000, 10_000_000):
            recipe = draft.resolve(pairs, {})
            assert (recipe.task, recipe.about) == (task, about)


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


@pytest.mark.parametrize("where", ["set", "draft", "build"])
def test_an_unknown_option_names_its_neighbour_wherever_it_comes_from(where: str) -> None:
    calls: dict[str, Any] = {
        "set": lambda: parse_overrides(["model.hiden=3"]),
        "draft": lambda: load_draft("tiny", "pronounce").unscaled({"model.hiden": 3}),
        "build": lambda: build({"model.hiden": 3}, "recipe.yaml"),
    }
    with pytest.raises(UsageError, match=r"model\.hiden is not an option; did you mean hidden\?"):
        calls[where]()
