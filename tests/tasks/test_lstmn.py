"""LSTMN systems through the command line."""

from pathlib import Path

import pytest

from tests.command import backwards, done, refused, regard, train, words, write


@pytest.mark.parametrize("fusion", ["shallow", "deep"])
def test_learns_to_read_backwards(tmp_path: Path, fusion: str) -> None:
    rows = [(word, backwards(word)) for word in words("abcd", 3, 4)]
    pairs, test = write(tmp_path / "train.tsv", rows[:270]), write(tmp_path / "test.tsv", rows[270:])
    chosen = ("model.cell=lstmn", f"model.fusion={fusion}", "training.batch_size=32", "training.learning_rate=0.01")
    options = [part for one in chosen for part in ("--set", one)]
    result = train(pairs, tmp_path / "run", *options, epochs=14)
    assert result.code == 0, result.err
    report = done("evaluate", tmp_path / "run", test, "--json").objects[0]
    assert report["metrics"]["accuracy"] >= 90
    (answer,) = done("predict", tmp_path / "run", "abcd", "--json", "--beam", 3).objects
    heaviest = [row.index(max(row)) for row in answer["attention"]]
    assert len(set(heaviest)) > 1
    (look,) = answer["looks"]
    assert look["columns"] == ["<begin>", *answer["output_tokens"][:-1]]
    assert [sum(row) for row in look["weights"]] == pytest.approx([1] * len(answer["output_tokens"]), abs=1e-5)
    if fusion == "deep":
        refused(
            regard("export", tmp_path / "run", "--format", "onnx", "--out", tmp_path / "a.onnx"),
            *(2, "cannot be exported"),
        )


@pytest.mark.parametrize("variant", ["lstmn-shallow", "lstmn-deep"])
@pytest.mark.parametrize("task", ["translate", "inflect"])
def test_every_variant_trains_and_answers(tmp_path: Path, variant: str, task: str) -> None:
    pairs = write(tmp_path / "copy.tsv", ((word, " ".join(word.upper()), "V;UP") for word in words("ab", 2, 4)))
    sizes = {"embed": 8, "hidden": 12, "compare": 10, "readout": 8}
    options = [part for key, value in sizes.items() for part in ("--set", f"model.{key}={value}")]
    options += ["--set", "source.subwords=20", "--set", "target.subwords=20"]
    result = train(pairs, tmp_path / "run", "--recipe", variant, *options, task=task)
    assert result.code == 0, result.err
    for answer in done("predict", tmp_path / "run", "abba", "ba", "--beam", 2, "--json").objects:
        assert [sum(row) for row in answer["attention"]] == pytest.approx([1] * len(answer["output_tokens"]), abs=1e-5)
