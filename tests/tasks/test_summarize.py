"""Words that nobody has seen can only be copied: a toy where the answer consists of them."""

import random
from pathlib import Path
from typing import Any

import pytest

from regard.run import load
from regard.tasks.summarize import measure
from tests.command import done, refused, regard, train, words, write


def news(count: int) -> list[tuple[str, str]]:
    """`today vaki calls moru .` → `moru hears vaki`; no name stands in two of them."""
    names = words("aeikmoruv", 4, 4)
    draw = random.Random(2)
    pairs = [(names[2 * number], names[2 * number + 1]) for number in range(count)]
    days = [draw.choice(["today", "now", "here"]) for _ in pairs]
    return [(f"{day} {a} calls {b} .", f"{b} hears {a}") for day, (a, b) in zip(days, pairs, strict=True)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder, rows = tmp_path_factory.mktemp("news"), news(300)
    return write(folder / "train.tsv", rows[:250]), write(folder / "test.tsv", rows[250:])


def score(run: Path, test: Path) -> dict[str, Any]:
    return dict(done("evaluate", run, test, "--json").objects[0]["metrics"])


@pytest.mark.parametrize("copy", ["gate", "sentinel"])
def test_unseen_words_are_copied(copy: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    made = train(files[0], tmp_path / "run", "--set", f"model.copy={copy}", task="summarize", epochs=12)
    assert made.code == 0, made.err
    assert score(tmp_path / "run", files[1])["rougeL"] >= 95
    answer = done("predict", tmp_path / "run", "now zeno calls otto .", "--json", "--beam", 3).objects[0]
    assert answer["output"] == "otto hears zeno"
    assert answer["unknown"] == ["zeno", "otto"]
    assert sorted(map(tuple, answer["copied"])) == [(0, 3), (2, 1)]  # and "hears" was written
    run = load(tmp_path / "run")
    panel = run.predict("now zeno calls otto .").panel()
    assert panel.marked == {(0, 3), (2, 1)}
    assert run.choices("now zeno calls otto .", count=1)[0].symbol == "otto"
    given = run.force("now zeno calls otto .", "otto hears zeno")
    assert given.log_probability > run.force("now zeno calls otto .", "zeno hears otto").log_probability
    pair = run.join(load(tmp_path / "run"))
    assert pair.predict("now zeno calls otto .").copied == [(0, 3), (2, 1)]
    told = ("export", tmp_path / "run", "--format", "onnx", "--out", tmp_path / "run.onnx")
    refused(regard(*told), 2, "copies", "model.copy=none")


def test_without_copying_they_cannot_be_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    assert train(files[0], tmp_path / "run", "--set", "model.copy=none", task="summarize", epochs=12).code == 0
    assert score(tmp_path / "run", files[1])["rouge1"] <= 50  # at best `hears` alone


def test_abs_learns_a_small_language(tmp_path: Path) -> None:
    """Of four words in any order, who and what are the gist, in this order."""
    draw = random.Random(3)
    who, what, rest = (
        ["cat", "dog", "fox", "yak", "gnu"],
        ["eats", "runs", "sings", "naps", "hides"],
        ["oh", "so", "well"],
    )
    rows = []
    for _ in range(300):
        a, b = draw.choice(who), draw.choice(what)
        rows.append((" ".join(draw.sample([a, b, *draw.sample(rest, 2)], 4)), f"{a} {b}"))
    pairs, test = write(tmp_path / "train.tsv", rows[:250]), write(tmp_path / "test.tsv", rows[250:])
    abs_ = ("--recipe", "abs", "--set", "model.embed=16", "--set", "model.hidden=32", "--set", "model.compare=32")
    quick = ("--set", "training.learning_rate=0.01", "--set", "training.average=none", "--set", "model.dropout=0")
    made = train(pairs, tmp_path / "run", *abs_, *quick, task="summarize", epochs=10)
    assert made.code == 0, made.err
    assert score(tmp_path / "run", test)["rouge2"] >= 90  # one guess in 25 is right
    answer = done("predict", tmp_path / "run", "so fox well naps", "--json").objects[0]
    assert answer["output"] == "fox naps"
    assert [len(row) for row in answer["attention"]] == [4, 4]


def test_rouge_comes_in_percent_by_the_names_of_the_field() -> None:
    assert measure(["a b"], [["a b"]]).metrics == {"rouge1": 100, "rouge2": 100, "rougeL": 100}
