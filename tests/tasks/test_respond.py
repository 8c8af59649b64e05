"""Answers to conversations: what was said earlier counts."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.errors import DataError
from regard.settings import build
from regard.tasks.respond import read
from tests.command import Result, done, refused, regard, train, write

THINGS = ("tea", "milk", "wine", "beer", "cola", "soup")
FILLERS = ("oh", "well", "hm", "so", "yes", "fine", "good", "right")


def talks(count: int) -> Iterator[tuple[str, str]]:
    """What was wanted two turns ago is what is served; the last turn says nothing of it."""
    chance = random.Random(1)
    for _ in range(count):
        thing, others = chance.choice(THINGS), [chance.choice(FILLERS) for _ in range(5)]
        before = [f"{others[0]} i want {thing} {others[1]}", f"{others[2]} {others[3]}", f"{others[4]} give it to me"]
        yield " ||| ".join(before), f"here is some {thing}"


def learn(folder: Path, *more: object) -> Result:
    rows = list(talks(300))
    pairs, test = write(folder / "train.tsv", rows[:260]), write(folder / "test.tsv", rows[260:])
    words = ["--set", "source.symbols=words", "--set", "target.symbols=words"]
    assert train(pairs, folder / "run", *words, *more, task="respond", epochs=14).code == 0
    return done("evaluate", folder / "run", test, "--json")


def test_two_levels_find_what_was_said_two_turns_ago(tmp_path: Path) -> None:
    report = learn(tmp_path).objects[0]
    assert report["metrics"]["bleu"] >= 95
    assert report["perplexity"] < 1.1
    source = "oh i want wine so ||| hm ||| well give it to me"
    answer = done("predict", tmp_path / "run", source, "--json").objects[0]
    assert answer["output"] == "here is some wine"
    looked = answer["attention"][3]  # where "wine" was written
    assert answer["lines"] == [6, 2, 5]
    (look,) = answer["looks"]
    assert look["columns"] == ["oh i want wine so", "hm", "well give it to me"]
    assert [sum(row) for row in look["weights"]] == pytest.approx([1] * 4, abs=1e-5)
    assert look["weights"][3][0] == pytest.approx(sum(looked[:5]), abs=1e-6)
    assert look["weights"][3][0] > 0.8
    refused(
        regard("export", tmp_path / "run", "--format", "onnx", "--out", tmp_path / "run.onnx"),
        2,
        "dialog.hierarchical=false",
    )


def test_the_last_turn_alone_does_not_tell(tmp_path: Path) -> None:
    report = learn(tmp_path, "--set", "dialog.turns=1", "--set", "dialog.hierarchical=false").objects[0]
    assert report["perplexity"] > 1.35  # at best one of six things, in one of five symbols: 6^(1/5) = 1.43
    answer = done("predict", tmp_path / "run", "i want wine ||| give it to me", "--json").objects[0]
    assert answer["source_tokens"] == ["give", "it", "to", "me"]
    assert answer["left_out"] == 3


REFUSED = [("heads", 2), ("window", 3), ("terms", "[location]"), ("ctc", 0.3), ("reverse", 0.7)]


@pytest.mark.parametrize(("option", "value"), REFUSED)
def test_what_two_levels_have_no_use_for_is_refused(tmp_path: Path, option: str, value: object) -> None:
    pairs = write(tmp_path / "few.tsv", talks(8))
    words = ["--set", "source.symbols=words", "--set", "target.symbols=words"]
    result = train(pairs, tmp_path / "run", *words, "--set", f"model.{option}={value}", task="respond")
    refused(result, 2, f"model.{option}=", "does nothing with dialog.hierarchical=true")


def test_a_conversation_in_which_nothing_is_said_can_be_skipped(tmp_path: Path) -> None:
    table = str(write(tmp_path / "talks.tsv", [("hi", "ho"), ("|||", "hm")]))
    recipe = build({"task": "respond"}, "here")
    with pytest.raises(DataError, match=r"line 2.*nothing was said.*--skip-bad-lines"):
        read(table, recipe)
    found = read(table, recipe, skip_bad_lines=True)
    assert ([one.source for one in found.examples], len(found.skipped)) == (["hi"], 1)


def test_options_of_conversations_are_for_conversations(tmp_path: Path) -> None:
    pairs = write(tmp_path / "few.tsv", [("ab", "a b"), ("ba", "b a")])
    refused(train(pairs, tmp_path / "run", "--recipe", "respond-single"), 2, "dialog")


def test_links_features_and_deep_fusion_are_not_passed_over(tmp_path: Path) -> None:
    pairs = write(tmp_path / "few.tsv", ((*row, "0-0") for row in talks(8)))
    for options, said in (
        (["data.features_column=3"], "data.features_column"),
        (["data.where_column=3"], "links and model.supervision need each other"),
        (["dialog.hierarchical=false", "model.supervision=1"], "links and model.supervision need each other"),
        (["model.cell=lstmn", "model.fusion=deep"], "model.fusion=deep does nothing"),
    ):
        given = [part for one in ("source.symbols=words", "target.symbols=words", *options) for part in ("--set", one)]
        refused(train(pairs, tmp_path / "run", *given, task="respond"), 2, said)
