"""`regard export`, and what is done with the file: loaded, asked, measured, without torch, damaged, without extras."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regard
from regard.errors import DataError, MissingExtra, UsageError
from regard.export.onnx_run import OnnxRun
from regard.export.package import MEMBERS, read_package, write_package
from regard.export.write import export_onnx
from tests.command import done, refused
from tests.command import regard as command
from tests.conftest import Reverse


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in MEMBERS}


def pack(path: Path, content: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, member in content.items():
            archive.writestr(name, member)
    return path


def test_the_command_answers_alike(reverse: Reverse, exported: Path) -> None:
    for call in (["--beam", 1], ["--beam", 5, "--nbest", 3, "--length-penalty", 0.7], ["--prefix", "C A"]):
        mine, theirs = (
            done("predict", path, *reverse.unseen[:20], "zab", *call, "--json") for path in (exported, reverse.run)
        )
        assert mine.err == theirs.err  # z was never seen in training
        for one, other in zip(mine.objects, theirs.objects, strict=True):
            assert one["output"] == other["output"]
            assert one["score"] == pytest.approx(other["score"], abs=1e-4)
            np.testing.assert_allclose(one["attention"], other["attention"], atol=1e-4)
            assert one.keys() == other.keys()


def test_the_command_measures_alike(reverse: Reverse, exported: Path) -> None:
    mine, theirs = (done("evaluate", path, reverse.test, "--json").objects[0] for path in (exported, reverse.run))
    assert mine["metrics"] == theirs["metrics"]
    assert mine["examples"] == theirs["examples"]
    assert mine["perplexity"] == pytest.approx(theirs["perplexity"], abs=1e-4)


def test_eight_bits_are_smaller_and_nearly_as_good(reverse: Reverse, exported: Path, tmp_path: Path) -> None:
    told = done("export", reverse.run, "--format", "onnx", "--int8", "--out", tmp_path / "x8.onnx")
    assert "MB in int8" in told.err
    assert (tmp_path / "x8.onnx").stat().st_size < 0.6 * exported.stat().st_size
    mine, theirs = (
        done("evaluate", path, reverse.pairs, "--json").objects[0] for path in (tmp_path / "x8.onnx", exported)
    )
    assert theirs["metrics"]["per"] < 50  # it has learnt something
    assert mine["metrics"]["per"] == pytest.approx(theirs["metrics"]["per"], abs=3)
    assert mine["perplexity"] == pytest.approx(theirs["perplexity"], rel=0.05)
    assert mine["perplexity"] != theirs["perplexity"]


def fresh(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """This code in a Python of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    call = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(call, env=environment, text=True, capture_output=True, check=False)


BLOCKED = "import sys; sys.modules['torch'] = None; import regard.cli; regard.cli.main()"


def test_the_command_needs_no_torch(reverse: Reverse, exported: Path, tmp_path: Path) -> None:
    ended = fresh(BLOCKED, "predict", exported, *reverse.unseen[:5], "--json")
    assert ended.returncode == 0, ended.stderr
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    expected = done("predict", reverse.run, *reverse.unseen[:5], "--json")
    assert [one["output"] for one in answers] == expected.outputs
    words = tmp_path / "words.txt"
    words.write_text("\n".join(reverse.unseen[:5]), "utf-8")
    from_file = fresh(BLOCKED, "predict", exported, "--input", words)
    assert from_file.stdout.splitlines() == expected.outputs, from_file.stderr
    assert "TEXT 1 is empty" in fresh(BLOCKED, "predict", exported, "").stderr
    refused_run = fresh(BLOCKED, "predict", reverse.run, "abc")
    assert refused_run.returncode == 1  # so torch was really not to be had
    assert "torch" in refused_run.stderr


def test_measuring_without_torch_says_what_is_missing(reverse: Reverse, exported: Path) -> None:
    ended = fresh(BLOCKED, "evaluate", exported, reverse.test)
    assert ended.returncode == 2
    assert ended.stderr.startswith("regard: measuring needs torch")


def test_answering_imports_neither_torch_nor_the_tools_of_export(exported: Path) -> None:
    code = """if True:
        import sys, regard
        print(regard.load(sys.argv[1]).predict(["abc", "ed"], beam=3)[1].attention.shape)
        print(sorted({"torch", "onnx", "onnxscript", "onnxruntime"} & set(sys.modules)))
    """
    ended = fresh(code, exported)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[1] == "['onnxruntime']"


def test_loading_by_name(exported: Path, reverse: Reverse) -> None:
    run = regard.load(exported)
    assert isinstance(run, OnnxRun)
    assert repr(run) == f"<exported regard run {exported}: pronounce>"
    assert isinstance(regard.load(reverse.run), regard.Run)
    one = run.predict("abc", beam=2, nbest=2)
    assert isinstance(one, regard.Prediction)
    assert one.attention is not None
    np.testing.assert_allclose(one.attention.sum(-1), 1, atol=1e-5)
    assert [len(each.output_tokens) for each in one.nbest] == [len(each.attention) for each in one.nbest]


def test_what_was_read_is_written_again_to_the_byte(exported: Path, tmp_path: Path) -> None:
    write_package(tmp_path / "again.onnx", read_package(exported), regard.__version__)
    assert (tmp_path / "again.onnx").read_bytes() == exported.read_bytes()


def test_what_an_exported_run_does_not_do(exported: Path, reverse: Reverse) -> None:
    refused(command("predict", exported, "abc", "--sample"), 2, "does not sample")
    refused(command("predict", exported, "abc", "--ensemble", reverse.run), 2, "answers alone")
    refused(command("predict", reverse.run, "abc", "--ensemble", exported), 2, "answers alone")
    refused(command("predict", exported, "abc", "--device", "cuda"), 2, "on the CPU")
    refused(command("predict", exported, ""), 1, "empty")
    refused(command("export", exported, "--format", "onnx", "--out", "y.onnx"), 2, "there is no run")


def test_where_it_cannot_be_written(reverse: Reverse, tmp_path: Path) -> None:
    call = ["export", reverse.run, "--format", "onnx", "--out"]
    refused(command(*call, tmp_path), 2, "is a folder")
    refused(command(*call, tmp_path / "no" / "x.onnx"), 2, "there is no folder")
    refused(command("export", reverse.run, "--out", tmp_path / "x.onnx"), 2, "--format")
    run = regard.load(reverse.run)
    assert isinstance(run, regard.Run)
    with pytest.raises(UsageError, match="ensemble of 2 models"):
        export_onnx(run.join(run), tmp_path / "x.onnx")


def about(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, bytes]], object]:
    """Damage to the description alone."""

    def damage(content: dict[str, bytes]) -> None:
        described = json.loads(content["regard.json"])
        change(described)
        content["regard.json"] = json.dumps(described).encode()

    return damage


DAMAGES: dict[str, tuple[Callable[[dict[str, bytes]], object], str]] = {
    "member": (lambda content: content.pop("step.onnx"), "it should hold regard.json, encoder.onnx, step.onnx"),
    "stranger": (lambda content: content.update({"../x": b""}), "it should hold"),
    "json": (lambda content: content.update({"regard.json": b"{"}), "regard.json"),
    "nested": (lambda content: content.update({"regard.json": b"[" * 100_000}), "regard.json"),
    "list": (lambda content: content.update({"regard.json": b"[]"}), "model_type"),
    "format": (about(lambda told: told.update(format=2)), "has format 2"),
    "attends": (about(lambda told: told.update(attends=1)), "attends is 1"),
    "recipe": (about(lambda told: told["recipe"]["search"].update(beam=-3)), "search.beam"),
    "no recipe": (about(lambda told: told.pop("recipe")), "options by name"),
    "task": (about(lambda told: told["recipe"].update(task="paint")), "no task 'paint'"),
    "vocabulary": (about(lambda told: told["vocabulary"].pop("source")), "vocabulary: expected source"),
    "symbols": (about(lambda told: told["vocabulary"]["target"]["vocabulary"].pop()), "writes 9 symbols"),
    "encoder": (lambda content: content.update({"encoder.onnx": b"junk"}), "encoder.onnx"),
    "half": (lambda content: content.update({"step.onnx": content["step.onnx"][:5000]}), "step.onnx"),
    "twice": (lambda content: content.update({"encoder.onnx": content["step.onnx"]}), "do not fit each other"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_one_clear_error(name: str, exported: Path, tmp_path: Path) -> None:
    damage, said = DAMAGES[name]
    content = members(exported)
    damage(content)
    refused(command("predict", pack(tmp_path / "x.onnx", content), "abc"), 1, said)


def test_a_damaged_archive(exported: Path, tmp_path: Path) -> None:
    whole, path = exported.read_bytes(), tmp_path / "x.onnx"
    for content in (b"", b"not a zip", whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(content)
        refused(command("predict", path, "abc"), 1, "damaged")
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])  # one bit
    refused(command("predict", path, "abc"), 1, "damaged")
    refused(command("predict", pack(path, members(exported), zipfile.ZIP_DEFLATED), "abc"), 1, "compressed")
    refused(command("predict", tmp_path / "none.onnx", "abc"), 2, "there is no file")


def test_a_vocabulary_that_the_encoder_does_not_know(exported: Path, tmp_path: Path) -> None:
    content = members(exported)
    about(lambda told: told["vocabulary"]["source"]["vocabulary"].append("ø"))(content)
    refused(command("predict", pack(tmp_path / "x.onnx", content), "ø"), 1, "cannot answer", "encoder.onnx")


@pytest.mark.parametrize("package", ["onnx", "onnxscript", "onnxruntime"])
def test_what_is_missing_to_export(
    package: str, reverse: Reverse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    result = command("export", reverse.run, "--format", "onnx", "--out", tmp_path / "x.onnx")
    refused(result, 2, f"package {package},", "pip install 'regard[onnx]'")


def test_what_is_missing_to_answer(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"onnxruntime.*regard\[onnx\]"):
        regard.load(exported)


def test_a_graph_with_answers_of_another_shape(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = OnnxRun.read(exported)
    monkeypatch.setattr("regard.export.onnx_run.pad", lambda sequences: np.zeros((7, 3), np.int64))
    with pytest.raises(DataError, match=r"cannot answer|other shapes"):
        run.predict("abc")
