"""`regard show`, on a run that reads words backwards."""

import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import regard
from regard.pictures import read
from tests.command import done, refused, train
from tests.command import regard as command
from tests.conftest import Reverse

ENDINGS = [".svg", ".png", ".pdf", ".html", ".json"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_numbers_of_a_beam_hypothesis_are_those_of_forced_decoding(
    reverse: Reverse, ending: str, tmp_path: Path
) -> None:
    words, path = reverse.unseen[:3], tmp_path / f"x{ending}"
    told = done("show", reverse.run, *words, "--beam", 5, "--nbest", 2, "-o", path)
    assert told.out == ""
    assert told.err == f"{path}: 6 panels\n"
    run = regard.load(reverse.run)
    panels = read(path)
    for number, panel in enumerate(panels):
        answer = panel.title.partition(" → ")[2].rpartition(" (")[0]
        forced = run.force(words[number // 2], answer)
        assert list(panel.rows) == forced.output_tokens
        assert list(panel.columns) == forced.source_tokens
        assert np.abs(np.array(panel.weights) - forced.attention).max() < 1e-5
    assert panels[0].title != panels[1].title


def test_so_are_the_numbers_one_can_read(reverse: Reverse, tmp_path: Path) -> None:
    """Under the pointer in the SVG, and in the terminal's list."""
    word, path = reverse.unseen[0], tmp_path / "x.svg"
    listed = done("show", reverse.run, word, "--beam", 5, "-o", path, "--terminal", "--kind", "lines").out
    run = regard.load(reverse.run)
    forced = run.force(word, run.predict(word, beam=5).output)
    assert forced.attention is not None
    done("show", reverse.run, word, "--beam", 5, "-o", path)
    cells = [one for one in ET.parse(path).iter(f"{SVG}rect") if "cell" in one.get("class", "").split()]
    read_off = [float(one.findtext(f"{SVG}title", "").rpartition(": ")[2]) for one in cells]
    assert np.abs(np.array(read_off) - forced.attention.ravel()).max() < 1e-5
    first = [float(number) for number in re.findall(r"\d\.\d\d", listed.splitlines()[2])]
    assert first[0] == pytest.approx(forced.attention[0].max(), abs=0.006)


def test_without_a_file_it_draws_in_the_terminal(reverse: Reverse) -> None:
    word = reverse.unseen[0]
    out = done("show", reverse.run, word, "--width", 40).out
    assert out.splitlines()[0].startswith(f"{word} → ")
    assert "rows: output, columns:" in out
    assert max(map(len, out.splitlines())) <= 40
    assert "\x1b" not in out


def test_a_given_answer_is_drawn(reverse: Reverse, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    done("show", reverse.run, "abc", "cab", "--target", "A A", "--target", "B", "-o", path)
    assert [list(panel.rows) for panel in read(path)] == [["A", "A"], ["B"]]


def test_two_runs_side_by_side(reverse: Reverse, spare: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    done("show", reverse.run, "abc", "cba", "--against", spare, "-o", path)
    names = [panel.title.partition(":")[0] for panel in read(path)]
    assert names == [reverse.run.name, spare.name] * 2
    shutil.copytree(spare, tmp_path / reverse.run.name)
    done("show", reverse.run, "abc", "--against", tmp_path / reverse.run.name, "-o", path)
    first, second = (panel.title.partition(":")[0] for panel in read(path))
    assert first != second  # though both folders have one name


def test_an_exported_run_is_drawn_too(reverse: Reverse, exported: Path, tmp_path: Path) -> None:
    done("show", exported, "abcd", "-o", tmp_path / "onnx.json")
    done("show", reverse.run, "abcd", "-o", tmp_path / "run.json")
    onnx, run = (read(tmp_path / f"{name}.json")[0] for name in ("onnx", "run"))
    assert onnx.title == run.title
    assert np.abs(np.array(onnx.weights) - np.array(run.weights)).max() < 1e-5


def test_a_run_without_attention_is_refused(few: Path, tmp_path: Path) -> None:
    assert train(few, tmp_path / "run", "--set", "model.attention=none").code == 0
    refused(command("show", tmp_path / "run", "ab"), 2, "no attention to draw", "model.attention: none")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "x.bmp"], "must be one of .svg, .png, .pdf, .gif, .html, .json"),
        (["--target", "A", "--beam", "2"], "--target gives the answer"),
        (["--target", "A", "--target", "B"], "1 texts came with 2 targets"),
        (["--features", "V"], "reads nothing beside its source"),
    ],
)
def test_wrong_calls_are_explained(reverse: Reverse, options: list[str], said: str) -> None:
    refused(command("show", reverse.run, "ab", *options), 2, said)
