"""The demo from end to end, on a few toy words instead of its own."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from regard.data.demo import DemoFiles, demo_files
from tests.command import Result, backwards, done, refused, regard, words, write


@pytest.fixture
def small_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = words("ab", 7, 7)
    parts = {"train": found[:60], "dev": found[60:70], "test": found[70:80]}
    paths = [write(tmp_path / f"{part}.tsv", ((one, backwards(one)) for one in some)) for part, some in parts.items()]
    monkeypatch.setattr("regard.demos.pronounce.demo_files", lambda: DemoFiles(*paths))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "demo"


def errors(result: Result) -> list[str]:
    return [line for line in result.out.splitlines() if line.startswith(("with attention", "without"))]


def test_the_demo_tells_its_story_and_can_be_repeated(small_demo: Path) -> None:
    result = done("demo", "--out", small_demo)
    lines = result.out.splitlines()
    assert "60 words" in lines[0]
    assert len(errors(result)) == 2
    assert all(line.count("%") == 2 for line in errors(result))
    assert len([line for line in lines if line[:1] in "ab" and " → " in line]) == 3
    picture = ElementTree.fromstring((small_demo / "attention.svg").read_text("utf-8"))
    assert picture.tag.endswith("svg")
    assert f"regard predict {small_demo / 'attention'} " in result.out
    done("predict", small_demo / "attention", "abababa")
    weights = (small_demo / "attention" / "model.safetensors").read_bytes()
    again = done("demo", "--out", small_demo)
    assert errors(again) == errors(result)
    assert (small_demo / "attention" / "model.safetensors").read_bytes() == weights


def test_a_folder_that_is_taken(small_demo: Path) -> None:
    small_demo.write_text("mine")
    result = regard("demo", "--out", small_demo)
    refused(result._replace(err=result.err.splitlines()[-1]), 2, "cannot make the folder", "another --out")
    assert small_demo.read_text() == "mine"


def test_the_data_of_the_demo_is_small_and_without_leaks() -> None:
    parts = [{line.split("\t")[0] for line in path.read_text("utf-8").splitlines()} for path in demo_files()]
    assert sum(path.stat().st_size for path in demo_files()) < 1_000_000
    assert all(len(part) >= 1000 for part in parts)
    assert len(set().union(*parts)) == sum(map(len, parts))
