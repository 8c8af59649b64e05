"""The demo of handwriting from end to end, on a few toy words, and on digits where there are no fonts."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from regard.demos import handwriting
from regard.encoders import pretrained
from tests.command import done, refused, regard


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(handwriting, "COUNT", 40)
    monkeypatch.setattr(handwriting, "DEV", 0.2)
    monkeypatch.setattr(handwriting, "TEST", 0.2)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "demo"


def errors(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith(("with attention", "without"))]


@pytest.mark.parametrize("fonts", [True, False])
def test_the_demo_reads_words_or_digits_and_can_be_repeated(
    place: Path, monkeypatch: pytest.MonkeyPatch, fonts: bool
) -> None:
    pytest.importorskip("matplotlib")  # it brings fonts
    if not fonts:
        monkeypatch.setattr("regard.data.corpora.fonts.find_fonts", lambda names: [])
    result = done("demo", "handwriting", "--out", place)
    assert "not real handwriting" in result.out
    assert len(errors(result.out)) == 2
    assert all(line.count("%") == 2 for line in errors(result.out))
    test = [line.split("\t")[1] for line in (place / "data/test.tsv").read_text("utf-8").splitlines()]
    assert all(one.isalpha() == fonts for one in test)
    assert [line.split()[0] for line in result.out.splitlines() if " →" in line][1:] == test[:3]
    assert result.out.count("each symbol stands where it was read") == 3
    assert ElementTree.fromstring((place / "attention.svg").read_text("utf-8")).tag.endswith("svg")
    assert (place / "words.txt").exists() == fonts
    assert done("demo", "handwriting", "--out", place).out == result.out


def test_a_folder_that_is_taken(place: Path) -> None:
    place.write_text("mine")
    refused(regard("demo", "handwriting", "--out", place), 2, "cannot make the folder", "another --out")
    assert place.read_text() == "mine"


def test_without_the_encoder_the_extra_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = {name: package._replace(name="no-such-package") for name, package in pretrained.PACKAGES.items()}
    monkeypatch.setattr(pretrained, "PACKAGES", gone)
    monkeypatch.setattr("regard.demos.shared.frozen_network", pretrained.load_pretrained)  # as if it were not loaded
    refused(regard("demo", "handwriting", "--out", place), 2, "no-such-package", "regard[pretrained]")
    assert not place.exists()
