"""The contract of the commands: what they print, in which order, and how they end."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
import yaml

from regard import __version__, metrics_captions
from regard.cli import cli
from regard.draft import recipe_names
from regard.recipe import Recipe, describe
from tests.command import done, refused, regard, train, write
from tests.conftest import Reverse

# evaluate


def test_evaluate_as_json_and_as_a_table(reverse: Reverse) -> None:
    report = done("evaluate", reverse.run, reverse.test, "--json").objects
    assert list(report[0]) == ["metrics", "examples", "perplexity"]
    assert report[0]["examples"] == len(reverse.unseen)
    assert set(report[0]["metrics"]) == {"wer", "per", "accuracy"}
    table = dict(line.split() for line in done("evaluate", reverse.run, reverse.test).out.splitlines())
    assert table["examples"] == str(len(reverse.unseen))
    assert float(table["accuracy"]) == pytest.approx(report[0]["metrics"]["accuracy"], abs=0.01)


def test_any_of_several_references_counts(reverse: Reverse, tmp_path: Path) -> None:
    right = done("predict", reverse.run, "abc", "edcb").out.splitlines()
    rows = [("abc", "X X"), ("edcb", "E"), ("abc", right[0]), ("cab", "X"), ("edcb", right[1]), ("cab", "Y")]
    report = done("evaluate", reverse.run, write(tmp_path / "several.tsv", rows), "--json").objects[0]
    assert report["examples"] == 3
    assert report["metrics"]["accuracy"] == pytest.approx(200 / 3)
    assert report["metrics"]["wer"] == pytest.approx(100 / 3)


def test_evaluate_by_meteor_only_if_asked(reverse: Reverse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycocoevalcap.meteor.meteor", None)
    refused(regard("evaluate", reverse.run, reverse.test, "--meteor"), 2, "pycocoevalcap", "regard[meteor]")
    monkeypatch.setattr(metrics_captions, "check_meteor", lambda: None)
    monkeypatch.setattr(
        metrics_captions, "meteor", lambda outputs, references: 25.0 * (len(outputs) == len(references))
    )
    report = done("evaluate", reverse.run, reverse.test, "--meteor", "--json").objects[0]
    assert report["metrics"].pop("meteor") == 25
    assert report == done("evaluate", reverse.run, reverse.test, "--json").objects[0]


def test_evaluate_counts_bad_lines(reverse: Reverse, tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.tsv", [("abc", "C B A"), ("abc",), ("edc", "C D E")])
    refused(regard("evaluate", reverse.run, pairs), 1, f"{pairs}, line 2", "2 tab-separated columns")
    result = done("evaluate", reverse.run, pairs, "--skip-bad-lines", "--json")
    assert result.objects[0]["examples"] == 2
    assert "left out 1 bad lines" in result.err


# train


def test_train_says_how_good_it_is_and_what_to_do_next(few: Path, tmp_path: Path) -> None:
    result = train(few, tmp_path / "run")
    assert result.out == ""
    assert str(tmp_path / "run") in result.err
    assert "wer" in result.err
    assert f"regard predict {tmp_path / 'run'}" in result.err
    names = {"config.json", "recipe.yaml", "vocabulary.json", "model.safetensors", "training.safetensors"}
    assert {one.name for one in (tmp_path / "run").iterdir()} == names | {"log.jsonl", "README.md"}


def test_train_takes_standard_input_and_a_recipe_file(few: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("model: {hidden: 10, embed: 5}\ntraining: {epochs: 1, average: none}\n")
    call = ["train", "-", "--task", "pronounce", "--recipe", tmp_path / "mine.yaml", "--out", tmp_path / "run"]
    done(*call, "--quiet", "--seed", 7, "--set", "model.embed=6", stdin=few.read_bytes())
    stored = yaml.safe_load((tmp_path / "run" / "recipe.yaml").read_text())
    assert (stored["model"]["hidden"], stored["model"]["embed"], stored["training"]["seed"]) == (10, 6, 7)


# recipes and data


def test_recipes_are_listed_with_a_line_each() -> None:
    lines = done("recipes").out.splitlines()
    assert [line.split()[0] for line in lines] == recipe_names()
    assert all(len(line.split()) > 3 for line in lines)


@pytest.mark.parametrize("name", recipe_names())
def test_every_option_has_a_default_a_type_and_a_meaning(name: str) -> None:
    lines = done("recipes", name).out.splitlines()
    shown = {line.split(" = ")[0]: line.split(" = ")[1] for line in lines if " = " in line and line[0] != " "}
    assert list(shown) == [line.name for line in describe(Recipe())]
    for key, rest in shown.items():
        value, _, kind = rest.rpartition("    (")
        json.loads(value)
        assert kind.removesuffix(")"), key
        assert lines[lines.index(f"{key} = {rest}") + 1].startswith("    ")
    file = yaml.safe_load(resources.files("regard").joinpath("recipes", f"{name}.yaml").read_text("utf-8"))
    assert file["about"] in shown["about"]


def test_the_scale_of_a_recipe_is_shown(tmp_path: Path) -> None:
    scale = "scale:\n- {up_to: 5000, set: {model.hidden: 100}}\n- {up_to: null, set: {model.hidden: 300}}\n"
    (tmp_path / "mine.yaml").write_text(scale)
    assert done("recipes", tmp_path / "mine.yaml").out.splitlines()[-2:] == [
        "up to 5,000 pairs: model.hidden=100",
        "more pairs: model.hidden=300",
    ]


def test_data_lists_what_there_is_and_names_the_neighbour(tmp_path: Path) -> None:
    assert done("data", "list").out.startswith("cmudict ")
    refused(regard("data", "cmudikt", "--out", tmp_path / "d"), 2, "no corpus 'cmudikt'", "did you mean cmudict")
    refused(regard("data", "cmudict"), 2, "--out data/cmudict")
    assert not (tmp_path / "d").exists()


# help, errors, exit codes


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_the_help_of_every_command_shows_an_example(name: str) -> None:
    text = done(name, "--help").out
    assert "Example:\n" in text
    assert f"regard {name}" in text.partition("Example:\n")[2]


@pytest.mark.parametrize("name", ["", *sorted(cli.commands)])
def test_help_fits_a_terminal_of_80_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert [line for line in done(*filter(None, [name]), "--help").out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_option_of_a_command_is_explained(name: str) -> None:
    for option in cli.commands[name].params:
        if option.param_type_name == "option" and option.name != "help":
            assert getattr(option, "help", None), f"{name} --{option.name}"


def test_version_and_help() -> None:
    assert __version__ in done("--version").out
    assert done("-h").out == done("--help").out
    alone = regard()
    assert alone.code == 2
    assert "regard demo" in alone.err


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["trian"], "train"),
        (["train"], "PAIRS"),
        (["train", "x", "--tusk", "pronounce"], "--task"),
        (["predict", "x", "--beam", "many"], "many"),
        (["predict", "x", "abc", "--seed", "-1"], "--seed"),
    ],
)
def test_a_wrong_call_is_answered_in_two_lines(call: list[str], said: str) -> None:
    refused(regard(*call), 2, said, "--help")


def test_a_traceback_only_with_debug() -> None:
    refused(regard("recipes", "nosuch"), 2, "nosuch")
    for call in (["recipes", "nosuch", "--debug"], ["--debug", "recipes", "nosuch"]):
        result = regard(*call)
        assert result.code == 2
        assert "Traceback" in result.err
        assert result.err.splitlines()[-1].startswith("regard: there is no recipe 'nosuch'")


def test_what_nobody_foresaw_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> list[str]:
        raise ZeroDivisionError("first line\nsecond line\nthird line")

    monkeypatch.setattr("regard.draft.recipe_names", fail)
    refused(regard("recipes"), 1, "ZeroDivisionError: first line", "--debug")
    assert "Traceback" in regard("recipes", "--debug").err


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr("regard.draft.recipe_names", interrupt)
    result = regard("recipes")
    assert (result.code, result.err.strip()) == (130, "regard: stopped")


def closed_pipe() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize(
    ("open_target", "code", "said"),
    [(lambda: os.open("/dev/full", os.O_WRONLY), 1, "No space left"), (closed_pipe, 0, "")],
    ids=["full disk", "closed pipe"],
)
def test_where_results_cannot_go(open_target: Callable[[], int], code: int, said: str) -> None:
    """A full disk is an error in two lines; a reader that has seen enough (`| head`) is none."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    call = [sys.executable, "-m", "regard", "recipes", "tiny"]
    target = open_target()
    ended = subprocess.run(call, stdout=target, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    os.close(target)
    assert ended.returncode == code
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == (2 if said else 0)


def test_the_page_of_commands_is_what_help_says() -> None:
    from scripts.make_docs import PAGE, page

    assert PAGE.read_text("utf-8") == page(), "run: python scripts/make_docs.py"


@pytest.mark.parametrize(
    ("task", "twin"), [("classify", "tiny-choice"), ("entail", "tiny-choice"), ("fill", "tiny-point")]
)
def test_a_variant_for_another_family_names_its_twin(few: Path, tmp_path: Path, task: str, twin: str) -> None:
    rows = write(tmp_path / "rows.tsv", [("a b", "b", "a _____"), ("b a", "a", "b _____"), ("c a", "a", "c _____")])
    refused(train(rows, tmp_path / "run", task=task), 2, f"recipe tiny is not for the task {task}", f"use {twin}")


def test_it_is_told_how_many_rows_are_held_back(few: Path, tmp_path: Path) -> None:
    rows = len(few.read_text("utf-8").splitlines())
    told = train(few, tmp_path / "run").err
    assert f"of {rows} rows are held back as dev pairs (data.dev_share=0." in told
    assert "held back" not in train(few, tmp_path / "other", "--dev", few).err
