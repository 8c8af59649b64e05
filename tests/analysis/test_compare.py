"""`regard compare` from the call to the tables, on words that are read backwards."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from regard.analysis.compare import Comparison, compare
from regard.errors import UsageError
from regard.loading import load
from regard.pictures import read
from regard.training import Trainer
from tests.command import Result, backwards, refused, regard, words, write

RECIPES = ["tiny", "tiny+model.score=dot", "tiny+model.attention=none"]
TIMES = ("training", "answers")  # what no two calls have in common


def call(folder: Path, out: Path, *more: object, recipes: Sequence[str] = RECIPES, seeds: str = "1,2") -> list[object]:
    return [
        *("compare", folder / "train.tsv", "--dev", folder / "dev.tsv", "--test", folder / "test.tsv"),
        *("--task", "pronounce", "--recipes", ",".join(recipes), "--seeds", seeds, "-o", out),
        *("--set", "training.epochs=2", "--device", "cpu", "--quiet", *more),
    ]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    known = words("abcde", 3, 4)
    for name, part in (("train", known[:160]), ("dev", known[400:430]), ("test", known[430:480])):
        write(folder / f"{name}.tsv", ((word, backwards(word)) for word in part))
    return folder


@pytest.fixture(scope="module")
def finished(pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A comparison that was left alone; nobody may write into it."""
    out = tmp_path_factory.mktemp("compared")
    result = regard(*call(pairs, out))
    assert result.code == 0, result.err
    return out, result


@pytest.fixture
def spare_out(finished: tuple[Path, Result], tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished[0], tmp_path / "spare"))


def content(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "compare.json").read_text("utf-8"))
    return found


def lasting(out: Path) -> dict[str, Any]:
    """What a comparison found, without the times and the folder."""
    found = content(out)
    found.pop("folder")
    for system in found["systems"]:
        system.pop("folder")
        for name in TIMES:
            system["cost"].pop(name)
    return found


def snapshot(out: Path) -> dict[str, tuple[int, bytes]]:
    return {str(one.relative_to(out)): (one.stat().st_mtime_ns, one.read_bytes()) for one in out.glob("*/**/*.*")}


def test_tables_say_what_the_runs_reach(pairs: Path, finished: tuple[Path, Result]) -> None:
    out, result = finished
    systems = content(out)["systems"]
    assert [one["name"] for one in systems] == RECIPES
    for system in systems:
        for seed in (1, 2):
            run = load(out / system["name"] / f"seed-{seed}", device="cpu")
            measured = run.evaluate(run.task.read(str(pairs / "test.tsv"), run.recipe).examples).metrics
            assert {name: one["seeds"][str(seed)] for name, one in system["metrics"].items()} == measured
        one, two = system["metrics"]["wer"]["seeds"].values()
        assert system["metrics"]["wer"]["mean"] == pytest.approx((one + two) / 2)
        assert system["metrics"]["wer"]["deviation"] == pytest.approx(abs(one - two) / 2**0.5)
        shown = f"{system['metrics']['wer']['mean']:.2f} ± {system['metrics']['wer']['deviation']:.2f}"
        assert shown in result.out
        assert shown in (out / "compare.md").read_text("utf-8")


def test_cost(finished: tuple[Path, Result]) -> None:
    out, _ = finished
    additive, dot, none = (one["cost"] for one in content(out)["systems"])
    known = words("abcde", 3, 4)
    counted = [sum(len(word) * (len(word) + 1) for word in part) for part in (known[:160], known[430:480])]
    for cost in (additive, dot):
        assert [cost["weights_per_epoch"], cost["weights_of_test"]] == counted
    assert [none["weights_per_epoch"], none["weights_of_test"]] == [0, 0]
    assert none["parameters"] < dot["parameters"] < additive["parameters"]
    assert additive["parameters"] == load(out / "tiny" / "seed-1", device="cpu").weights_count()
    ends = [json.loads((out / "tiny" / f"seed-{seed}" / "log.jsonl").read_text().splitlines()[-1]) for seed in (1, 2)]
    assert additive["training"] == pytest.approx(sum(end["seconds"] for end in ends) / 2)
    assert additive["answers"] > 0


def test_the_terminal_has_80_columns_and_says_what_was_done(finished: tuple[Path, Result]) -> None:
    _, result = finished
    assert max(map(len, result.out.splitlines())) <= 80
    said = " ".join(result.out.split())
    assert "test.tsv: 50 sources, mean ± deviation over 2 seeds (1, 2)" in said
    assert "1,000 draws of examples and seeds" in said
    assert "corrected for 2 comparisons" in said
    assert "\x1b" not in result.out


def test_pictures_name_every_recipe(finished: tuple[Path, Result]) -> None:
    out, _ = finished
    curves = (out / "curves.svg").read_text("utf-8")
    assert ET.fromstring(curves).get("class") == "regard-curves"
    for name in RECIPES:
        assert f">{name}<" in curves
    panels = read(out / "attention.svg")
    assert [panel.title for panel in panels] == ["tiny, seed 1", "tiny+model.score=dot, seed 1"]  # who attends


def test_the_sentence_drawn_is_chosen_by_rule_and_read_as_its_reference(finished: tuple[Path, Result]) -> None:
    """The first test word of median length; forced decoding gives all recipes the reference's rows."""
    out, _ = finished
    test = words("abcde", 3, 4)[430:480]
    median = sorted(map(len, test))[(len(test) - 1) // 2]
    word = next(one for one in test if len(one) == median)
    assert content(out)["sentence"] == f"{word} → {backwards(word)}"
    for panel, name in zip(read(out / "attention.svg"), RECIPES, strict=False):
        forced = load(out / name / "seed-1", device="cpu").force(word, backwards(word))
        assert list(panel.rows) == backwards(word).split()
        assert list(panel.columns) == list(word)
        assert forced.attention is not None
        assert panel.weights == pytest.approx(forced.attention, abs=1e-6)


def test_a_second_call_trains_nothing_and_says_the_same(pairs: Path, spare_out: Path) -> None:
    before, table = snapshot(spare_out), (spare_out / "compare.md").read_bytes()
    result = regard(*call(pairs, spare_out))
    assert result.code == 0, result.err
    assert len(before) == 6 * 8  # a run's seven files, and what is remembered of it
    assert snapshot(spare_out) == before  # not a byte and not a time stamp
    assert (spare_out / "compare.md").read_bytes() == table


def test_further_seeds_and_recipes_leave_the_old_runs_alone(pairs: Path, spare_out: Path) -> None:
    before = snapshot(spare_out)
    result = regard(*call(pairs, spare_out, recipes=["tiny", "tiny+model.score=scaled"], seeds="2,3"))
    assert result.code == 0, result.err
    after = snapshot(spare_out)
    assert {name: after[name] for name in before} == before
    assert {name.split("/")[0] for name in set(after) - set(before)} == {"tiny", "tiny+model.score=scaled"}
    assert list(content(spare_out)["systems"][0]["metrics"]["wer"]["seeds"]) == ["2", "3"]


def test_other_test_pairs_are_answered_without_training(pairs: Path, spare_out: Path) -> None:
    logs = {one: one.read_bytes() for one in spare_out.glob("*/*/*.safetensors")}
    result = regard(*call(pairs, spare_out), "--test", pairs / "dev.tsv", "--metric", "per")
    assert result.code == 0, result.err
    assert {one: one.read_bytes() for one in logs} == logs
    found = content(spare_out)
    assert (found["examples"], found["metric"]) == (30, "per")
    best = json.loads((spare_out / "tiny" / "seed-1" / "config.json").read_text())["dev_metrics"]["wer"]
    assert found["systems"][0]["metrics"]["wer"]["seeds"]["1"] == pytest.approx(best)


def test_changed_options_and_pairs_are_refused(pairs: Path, spare_out: Path, tmp_path: Path) -> None:
    before = snapshot(spare_out)
    refused(regard(*call(pairs, spare_out, "--epochs", 3)), 2, "was made with training.epochs=2, now it is 3", "-o")
    other = Path(shutil.copytree(pairs, tmp_path / "other"))
    write(other / "dev.tsv", ((word, backwards(word)) for word in words("abcde", 3, 4)[600:630]))
    refused(regard(*call(other, spare_out)), 2, "was trained on other pairs")
    assert snapshot(spare_out) == before


def killed(arguments: list[object], when: Callable[[], bool]) -> None:
    """`regard ARGUMENTS` in a process of its own, without a chance to say goodbye."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-m", "regard", *map(str, arguments)], env=environment)
    deadline = time.monotonic() + 120
    while not when() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def test_a_comparison_that_was_killed_goes_on_and_ends_with_the_same_table(
    pairs: Path, spare_out: Path, tmp_path: Path
) -> None:
    """Killed in the middle of the second training."""
    out = tmp_path / "killed"

    def some(folder: Path) -> list[object]:
        return call(pairs, folder, recipes=RECIPES[:2], seeds="1")

    killed(some(out), lambda: (out / RECIPES[1] / "seed-1" / "training.safetensors").exists())
    assert (out / RECIPES[0] / "seed-1.json").exists()
    assert not (out / "compare.md").exists()
    before = (out / RECIPES[0] / "seed-1" / "model.safetensors").stat().st_mtime_ns
    resumed, whole = regard(*some(out)), regard(*some(spare_out))
    assert resumed.code == whole.code == 0, resumed.err
    assert lasting(out) == lasting(spare_out)
    assert (out / RECIPES[0] / "seed-1" / "model.safetensors").stat().st_mtime_ns == before
    assert tables(resumed) == tables(whole)
    for name in ("curves.svg", "attention.svg"):
        assert (out / name).read_bytes() == (spare_out / name).read_bytes()


def tables(result: Result) -> list[str]:
    """Those without times."""
    quality, significance, *_ = result.out.split("\n\n")
    return [quality, significance]


def test_a_training_that_fails_is_reported_and_the_rest_goes_on(pairs: Path, tmp_path: Path) -> None:
    wild = "tiny+training.learning_rate=1.0e+37"
    result = regard(*call(pairs, tmp_path / "out", recipes=[wild, "tiny"], seeds="1"))
    assert result.code == 1
    assert "regard: 1 training failed" in result.err
    assert "Traceback" not in result.err
    said = " ".join(result.out.split())
    assert f"{wild}, seed 1, failed: the loss is not a number any more" in said or "the dev loss is not" in said
    broken, sound = content(tmp_path / "out")["systems"]
    assert broken["metrics"] == {}
    assert broken["failures"][0]["seed"] == 1
    assert sound["metrics"]["wer"]["mean"] > 0
    assert sound["versus"] is None  # there is nothing to compare it with
    assert "failed" in result.out.splitlines()[2] or "failed" in result.out.splitlines()[1]


def test_ctrl_c_stops_everything_and_says_how_to_go_on(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Trainer._close_epoch

    def interrupted(trainer: Trainer) -> None:
        whole(trainer)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Trainer, "_close_epoch", interrupted)
    result = regard(*call(pairs, tmp_path / "out"))
    refused(result, 130, "stopped; the same command goes on from here")
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["tiny"]


def test_one_seed_is_never_a_claim_about_recipes(pairs: Path, spare_out: Path) -> None:
    result = regard(*call(pairs, spare_out, seeds="1"))
    assert result.code == 0, result.err
    said = " ".join(result.out.split())
    assert "With one seed, p speaks of these trained models alone" in said
    assert "1,000 draws of examples, two-sided" in said
    assert "with 1 seed (1)" in said
    assert "±" not in result.out
    assert content(spare_out)["systems"][0]["metrics"]["wer"]["deviation"] is None


def test_without_test_pairs_the_dev_pairs_are_named_as_what_they_are(pairs: Path, tmp_path: Path) -> None:
    found: Comparison = compare(
        pairs / "train.tsv",
        task="pronounce",
        recipes=["tiny"],
        seeds=[1],
        out=tmp_path / "out",
        set={"training.epochs": 1, "search.beam": 1},
        device="cpu",
        progress=False,
    )
    assert not found.held_out
    assert found.examples == 8  # 5 % of 160
    assert "also chose each run's best epoch" in (tmp_path / "out" / "compare.md").read_text("utf-8")
    (system,) = found.systems
    assert system.versus is None
    assert system.metrics["wer"].seeds[1] == pytest.approx(system.curve.points[-1].mean)


def test_a_yaml_file_and_values_of_an_option(pairs: Path, tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.yaml", [["model: {embed: 8, hidden: 8, compare: 8, readout: 8}"]])
    arguments = call(pairs, tmp_path / "out", "--vary", "model.score=dot,scaled", recipes=[str(mine)], seeds="1")
    result = regard(*arguments)
    assert result.code == 0, result.err
    assert [one["name"] for one in content(tmp_path / "out")["systems"]] == [
        "mine+model.score=dot",
        "mine+model.score=scaled",
    ]
    assert load(tmp_path / "out" / "mine+model.score=scaled" / "seed-1", device="cpu").recipe.model.score == "scaled"


@pytest.mark.parametrize(
    ("task", "recipe", "rows"),
    [
        ("classify", "tiny-choice", [("a good day", "yes"), ("a bad day", "no")]),
        ("read", "tiny-point", [("the cat sat", "cat", "who sat?"), ("a dog ran", "dog", "who ran?")]),
    ],
)
def test_who_does_not_write_is_compared_too(tmp_path: Path, task: str, recipe: str, rows: list[list[str]]) -> None:
    many = ((f"{number} {first}", *rest) for number in range(9) for first, *rest in rows)
    pairs = write(tmp_path / "pairs.tsv", many)
    compare(pairs, task=task, recipes=[recipe], seeds=[1], out=tmp_path / "out", epochs=1)
    (system,) = content(tmp_path / "out")["systems"]
    assert system["cost"]["weights_of_test"] > 0
    measured = {"classify": "accuracy", "read": "f1"}[task]
    assert 0 <= system["metrics"][measured]["seeds"]["1"] <= 100
    assert measured in (tmp_path / "out" / "compare.md").read_text("utf-8")


def test_wrong_calls(pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    refused(regard(*call(pairs, out, recipes=["tinny"])), 2, "did you mean tiny")
    refused(regard(*call(pairs, out, seeds="1,x")), 2, "--seeds 1,x")
    refused(regard(*call(pairs, out, "--metric", "pre")), 2, "pre is not measured here; did you mean per")
    refused(regard(*call(pairs / "no", out)), 2, "train.tsv")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="without torchrun"):
        compare(pairs / "train.tsv", task="pronounce", recipes=["tiny"], out=out)
    assert not out.exists()
