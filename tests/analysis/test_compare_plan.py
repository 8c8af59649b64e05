from pathlib import Path

import pytest

from regard.analysis.compare.plan import Plan, Variant, make_plan, parse_variant, split_list, vary
from regard.errors import UsageError
from tests.command import backwards, train, words, write


def test_commas_part_recipes_but_not_values() -> None:
    listed = "luong, tiny+model.terms=[location,coverage]+model.heads=2,no-attention"
    assert split_list(listed) == ["luong", "tiny+model.terms=[location,coverage]+model.heads=2", "no-attention"]


def test_a_variant_is_a_recipe_with_changes() -> None:
    assert parse_variant("luong", "pronounce") == Variant("luong", "luong", {})
    several = parse_variant("tiny+model.terms=[location]+training.learning_rate=1.0e+3", "pronounce")
    assert several.changes == {"model.terms": ["location"], "training.learning_rate": 1000.0}
    assert several.recipe == "tiny"
    assert parse_variant("+model.score=dot", "pronounce") == Variant(
        "pronounce+model.score=dot", "pronounce", {"model.score": "dot"}
    )
    assert parse_variant("my/odd+one.yaml+model.heads=2", "x") == Variant(
        "odd+one+model.heads=2", "my/odd+one.yaml", {"model.heads": 2}
    )


def test_values_of_several_options_are_crossed() -> None:
    assert vary(["a", "b+c=1"], ["model.score=dot,mlp"]) == [
        "a+model.score=dot",
        "a+model.score=mlp",
        "b+c=1+model.score=dot",
        "b+c=1+model.score=mlp",
    ]
    assert len(vary(["a"], ["x=1,2", "y=[1,2],[3]"])) == 4
    assert vary(["a"], []) == ["a"]
    with pytest.raises(UsageError, match="expected key=value"):
        vary(["a"], ["model.score"])


def plan(few: Path, out: Path, *recipes: str, seeds: tuple[int, ...] = (1,), **overrides: object) -> Plan:
    named = {key.replace("__", "."): value for key, value in overrides.items()}
    return make_plan(str(few), "pronounce", recipes, seeds, out, None, None, named, False)


def test_all_recipes_get_the_options_of_the_call_but_keep_their_own(few: Path, tmp_path: Path) -> None:
    made = plan(few, tmp_path, "tiny", "tiny+model.hidden=32", model__hidden=48)
    assert [system.recipe.model.hidden for system in made.systems] == [48, 32]
    assert [system.recipe.model.embed for system in made.systems] == [32, 32]
    assert made.systems[1].run(5).path == tmp_path / "tiny+model.hidden=32" / "seed-5"


def test_sources_held_back_are_not_learnt_from_and_are_the_same_for_all(few: Path, tmp_path: Path) -> None:
    corpus = plan(few, tmp_path, "tiny").corpus
    assert corpus.test == corpus.dev
    assert not corpus.held_out
    assert not {one.source for one in corpus.train} & {one.source for one in corpus.dev}


@pytest.mark.parametrize(
    ("recipes", "said"),
    [
        (["tinny"], "did you mean tiny"),
        (["tiny+model.scroe=dot"], "tiny\\+model.scroe=dot: model.scroe is not an option; did you mean score"),
        (["tiny+model.score=dott"], "model.score"),
        (["tiny", "tiny"], "share the folder"),
        (["tiny+model.heads=2", "tiny+model.heads=3"], "model.heads=3: .*does not divide"),
        (["tiny", "tiny+data.lowercase=true"], "would read different pairs"),
        (["tiny+training.seed=4"], "--seeds says"),
        (["inflect"], "is for the task inflect"),
        ([], "nothing to compare"),
    ],
)
def test_what_is_wrong_is_known_before_anything_is_trained(
    recipes: list[str], said: str, few: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        plan(few, tmp_path / "out", *recipes)
    assert not (tmp_path / "out").exists()


def test_files_of_one_name_cannot_share_a_folder(few: Path, tmp_path: Path) -> None:
    mine = write(tmp_path / "tiny.yaml", [["model: {hidden: 16}"]])
    with pytest.raises(UsageError, match="give YAML files different names"):
        plan(few, tmp_path, "tiny", str(mine))


@pytest.mark.parametrize("seeds", [(), (1, 1)])
def test_seeds_are_different_numbers(seeds: tuple[int, ...], few: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected different numbers"):
        plan(few, tmp_path, "tiny", seeds=seeds)


def test_pairs_sorted_by_class_are_no_trouble(tmp_path: Path) -> None:
    rows = [(word, label) for label in ("no", "yes") for word in words("ab", 2, 4)]
    pairs = write(tmp_path / "pairs.tsv", rows)
    assert make_plan(str(pairs), "classify", ["tiny-choice"], [1], tmp_path / "out", None, None, {}, False)


def test_standard_input_can_be_read_only_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give files"):
        plan(Path("-"), tmp_path, "tiny")


def test_a_run_that_is_there_must_have_been_made_with_the_same_options(tmp_path: Path) -> None:
    """Also epochs: with a schedule, a run that goes on is another run than one that was planned as long."""
    pairs = write(tmp_path / "pairs.tsv", ((word, backwards(word)) for word in words("ab", 2, 4)))
    assert train(pairs, tmp_path / "tiny" / "seed-1", "--seed", 1).code == 0
    assert plan(pairs, tmp_path, "tiny", training__epochs=1)
    assert plan(pairs, tmp_path, "tiny", training__epochs=1, training__save_seconds=5)
    with pytest.raises(UsageError, match=r"seed-1 was made with training.epochs=1, now it is 2"):
        plan(pairs, tmp_path, "tiny", training__epochs=2)
    with pytest.raises(UsageError, match=r"model.hidden=64, now it is 32"):
        plan(pairs, tmp_path, "tiny", training__epochs=1, model__hidden=32)
