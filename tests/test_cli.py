"""The contract of the commands: what they print, in which order, and how they end."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from regard import __version__, metrics_captions
from regard.cli import cli
from regard.draft import recipe_names
from regard.recipe import Recipe, describe
from tests.command import backwards, done, refused, regard, train, words, write
from tests.conftest import Reverse

KEYS = ["source", "output", "score", "source_tokens", "output_tokens", "attention"]


def same(one: Any, other: Any) -> None:
    """Equal answers: text exactly, numbers within what batching may change."""
    assert [{key: each[key] for key in each if key not in ("score", "attention")} for each in one] == [
        {key: each[key] for key in each if key not in ("score", "attention")} for each in other
    ]
    for left, right in zip(one, other, strict=True):
        assert left["score"] == pytest.approx(right["score"], abs=1e-5)
        for row, twin in zip(left["attention"], right["attention"], strict=True):
            assert row == pytest.approx(twin, abs=1e-5)


# predict


def test_json_has_one_object_a_line_with_these_keys(reverse: Reverse) -> None:
    result = done("predict", reverse.run, "abc", "edcb", "--json")
    assert len(result.out.splitlines()) == 2
    assert [list(one) for one in result.objects] == [KEYS, KEYS]
    first = result.objects[0]
    assert first["source"] == "abc"
    assert first["source_tokens"] == ["a", "b", "c"]
    assert first["output"] == "C B A"
    assert first["output_tokens"] == ["C", "B", "A"]
    assert first["score"] < 0


def test_attention_has_a_row_per_output_token_and_a_column_per_source_token(reverse: Reverse) -> None:
    for one in done("predict", reverse.run, *reverse.unseen, "--json").objects:
        assert len(one["attention"]) == len(one["output_tokens"])
        for row in one["attention"]:
            assert len(row) == len(one["source_tokens"])
            assert sum(row) == pytest.approx(1, abs=1e-5)
            assert min(row) >= 0


def test_plain_answers_are_one_a_line(reverse: Reverse) -> None:
    assert done("predict", reverse.run, "abc", "edc").out == "C B A\nC D E\n"


@pytest.mark.parametrize("size", [1, 3])
def test_batching_changes_neither_order_nor_answers(reverse: Reverse, tmp_path: Path, size: int) -> None:
    sources = write(tmp_path / "sources.txt", ([word] for word in reverse.unseen))
    expected = done("predict", reverse.run, "--input", sources, "--batch-size", 50, "--json").objects
    assert [one["source"] for one in expected] == reverse.unseen
    same(done("predict", reverse.run, "--input", sources, "--batch-size", size, "--json").objects, expected)


def test_batching_changes_nothing_with_a_beam(reverse: Reverse) -> None:
    call = ("predict", reverse.run, *reverse.unseen[:20], "--beam", 3, "--json")
    same(done(*call, "--batch-size", 7).objects, done(*call, "--batch-size", 20).objects)


def test_nbest_is_a_list_of_answers_with_falling_scores(reverse: Reverse) -> None:
    for one in done("predict", reverse.run, *reverse.unseen[:5], "--nbest", 3, "--beam", 4, "--json").objects:
        assert list(one) == [*KEYS, "nbest"]
        assert len(one["nbest"]) == 3
        assert one["nbest"][0] == {key: one[key] for key in KEYS}
        scores = [each["score"] for each in one["nbest"]]
        assert scores == sorted(scores, reverse=True)
        assert len({each["output"] for each in one["nbest"]}) == 3
        assert all(len(each["attention"]) == len(each["output_tokens"]) for each in one["nbest"])


def test_nbest_without_a_beam_widens_it(reverse: Reverse) -> None:
    assert len(done("predict", reverse.run, "abc", "--nbest", 4, "--json").objects[0]["nbest"]) == 4


def test_nbest_as_text_numbers_the_sources(reverse: Reverse) -> None:
    lines = done("predict", reverse.run, "abc", "cba", "--nbest", 2).out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["1", "1", "2", "2"]
    assert lines[0].split("\t")[1] == "C B A"
    assert float(lines[0].split("\t")[2]) > float(lines[1].split("\t")[2])


def test_a_beam_finds_at_least_as_likely_answers(reverse: Reverse) -> None:
    """Words longer than any it has learnt: it is unsure, so a wider beam matters."""
    long = [word * 2 for word in reverse.unseen[:20]]
    narrow, wide = (
        [one["score"] for one in done("predict", reverse.run, *long, "--beam", width, "--json").objects]
        for width in (1, 8)
    )
    assert narrow != wide
    assert sum(wide) > sum(narrow)


def test_every_answer_begins_with_the_prefix(reverse: Reverse) -> None:
    plain, forced = (
        done("predict", reverse.run, *reverse.unseen[:10], *more, "--json").objects
        for more in ([], ["--prefix", "E A"])
    )
    assert all(one["output_tokens"][:2] == ["E", "A"] for one in forced)
    assert not all(one["output_tokens"][:2] == ["E", "A"] for one in plain)
    assert all(len(one["attention"]) == len(one["output_tokens"]) for one in forced)


def sampled(reverse: Reverse, *more: object) -> list[str]:
    call = ("predict", reverse.run, *reverse.unseen[:12], "--sample", "--temperature", 3, "--json")
    return done(*call, *more).outputs


def test_samples_follow_from_their_seed_whatever_the_batching(reverse: Reverse) -> None:
    first = sampled(reverse, "--seed", 1)
    assert first == sampled(reverse, "--seed", 1, "--batch-size", 1) == sampled(reverse, "--seed", 1, "--batch-size", 5)
    assert first != sampled(reverse, "--seed", 2)


def test_samples_are_cut_to_the_likeliest(reverse: Reverse) -> None:
    greedy = done("predict", reverse.run, *reverse.unseen[:12], "--json").outputs
    assert sampled(reverse) != greedy
    assert sampled(reverse, "--top-k", 1) == greedy
    assert sampled(reverse, "--top-p", 1e-6) == greedy


def test_several_samples_of_one_source(reverse: Reverse) -> None:
    found = done("predict", reverse.run, "abcd", "--sample", "--temperature", 4, "--nbest", 6, "--json").objects[0]
    assert len({one["output"] for one in found["nbest"]}) > 1


def test_second_opinions_from_training_to_answers(tmp_path: Path) -> None:
    """They are in the score of a beam's answers, of the run and of what is exported, and can be switched off."""
    known = words("abcde", 3, 4)[:500]
    pairs = write(tmp_path / "pairs.tsv", ((word, " ".join(word.upper())) for word in known))
    opinions = ("--set", "model.ctc=0.5", "--set", "model.reverse=1")
    assert train(pairs, tmp_path / "run", *opinions, epochs=4).code == 0
    assert done("evaluate", tmp_path / "run", pairs, "--json").objects[0]["metrics"]["wer"] < 20
    done("export", tmp_path / "run", "--format", "onnx", "--out", tmp_path / "x.onnx")
    silent = ["--ctc", 0, "--reverse", 0]
    mine, exported, alone, ctc, reverse = (
        done("predict", tmp_path / path, "abcde", "edc", "--beam", 3, "--json", *call).objects
        for path, call in (("run", []), ("x.onnx", []), ("run", silent), ("run", silent[2:]), ("run", silent[:2]))
    )
    for one, same, other, *each in zip(mine, exported, alone, ctc, reverse, strict=True):
        assert one["output"] == same["output"]
        assert one["score"] == pytest.approx(same["score"], abs=1e-4)
        assert one["score"] < min(two["score"] for two in each)  # a log p was added
        assert max(two["score"] for two in each) < other["score"]


def test_an_ensemble_is_between_its_members(reverse: Reverse, tmp_path: Path) -> None:
    assert train(reverse.pairs, tmp_path / "second", "--seed", 2, "--set", "training.batch_size=64").code == 0
    alone, other, both = (
        done("predict", *call, "abcd", "--prefix", backwards("abcd"), "--json").objects[0]
        for call in ([reverse.run], [tmp_path / "second"], [reverse.run, "--ensemble", tmp_path / "second"])
    )
    assert other["score"] < both["score"] < alone["score"]
    for row, one, two in zip(both["attention"], alone["attention"], other["attention"], strict=True):
        assert row == pytest.approx([(x + y) / 2 for x, y in zip(one, two, strict=True)], abs=1e-5)


def test_an_ensemble_of_other_recipes_is_told_what_differs(reverse: Reverse, tmp_path: Path) -> None:
    for name, options, said in (
        ("lower", ["--set", "data.lowercase=true"], "data.lowercase=True, not False"),
        ("script", ["--task", "transliterate"], "is a run of the task transliterate"),
    ):
        assert train(reverse.pairs, tmp_path / name, *options).code == 0
        refused(regard("predict", reverse.run, "abc", "--ensemble", tmp_path / name), 2, said)


def test_an_ensemble_needs_one_vocabulary(reverse: Reverse, few: Path, tmp_path: Path) -> None:
    assert train(few, tmp_path / "other").code == 0
    result = regard("predict", reverse.run, "abc", "--ensemble", tmp_path / "other")
    refused(result, 2, "other vocabularies", str(tmp_path / "other"))


@pytest.mark.parametrize("call", [["--input", "-"], []])
def test_standard_input(reverse: Reverse, call: list[str]) -> None:
    assert done("predict", reverse.run, *call, stdin=b"abc\r\nedc\n").out == "C B A\nC D E\n"


def test_empty_lines_keep_their_place(reverse: Reverse, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("abc\n\n  \nedc\n")
    result = done("predict", reverse.run, "--input", tmp_path / "lines.txt")
    assert result.out == "C B A\n\n\nC D E\n"
    assert "2 empty lines" in result.err
    assert "line 2" in result.err
    objects = done("predict", reverse.run, "--input", tmp_path / "lines.txt", "--json").objects
    assert [one["source"] for one in objects] == ["abc", "", "", "edc"]
    assert [list(one) for one in objects] == [KEYS] * 4


def test_unseen_symbols_are_read_as_unknown_and_reported(reverse: Reverse) -> None:
    result = done("predict", reverse.run, "abz", "cba", "é", "--json")
    assert [one.get("unknown") for one in result.objects] == [["z"], None, ["é"]]
    assert result.objects[0]["source_tokens"] == ["a", "b", "z"]
    assert "2 sources hold symbols never seen in training" in result.err
    assert "z é" in result.err


def test_an_answer_that_was_cut_off_says_so(reverse: Reverse, spare: Path) -> None:
    recipe = yaml.safe_load((spare / "recipe.yaml").read_text())
    recipe["search"] |= {"longest_ratio": 0.0, "longest_extra": 2}
    (spare / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    result = done("predict", spare, "abcd", "--json")
    assert result.objects[0]["finished"] is False
    assert len(result.objects[0]["output_tokens"]) == 2
    assert "1 answers reached the length limit" in result.err


def test_attention_is_drawn(reverse: Reverse) -> None:
    lines = done("predict", reverse.run, "abc", "--attention").out.splitlines()
    assert lines[0] == "C B A"
    assert lines[1].split() == ["a", "b", "c"]
    assert [line[0] for line in lines[2:5]] == ["C", "B", "A"]


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
