"""The demo of captions from end to end, on a few coloured squares instead of emoji."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from regard.data.corpora import Written, emoji
from regard.data.corpora.emoji import LANGUAGES
from regard.encoders import pretrained
from tests.command import done, refused, regard, write
from tests.data.made import save

COLOURS = {"red": (200, 0, 0), "green": (0, 200, 0), "blue": (0, 0, 200), "white": (250, 250, 250)}
PARTS = {"train": 24, "dev": 4, "test": 6}


def squares(out: Path, *, languages: Sequence[str], tones: bool, **shares: float) -> Written:
    """Pictures called after code points, and a name in each language: en red square, de red square."""
    assert not tones
    (out / "pictures").mkdir(parents=True)
    code = 0x1F400
    for part, count in PARTS.items():
        rows = []
        for number in range(count):
            name, colour = list(COLOURS.items())[number % len(COLOURS)]
            path = f"pictures/{code:x}.png"
            save(out / path, np.full((20, 20, 3), colour, np.uint8))
            rows.append([path, *(f"{language} {name} square" for language in languages)])
            code += 1
        write(out / f"{part}.tsv", rows)
    return Written(out, PARTS, "nobody")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("regard.demos.caption.write_emoji", squares)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "demo"


def test_the_demo_captions_in_several_languages_and_can_be_repeated(place: Path) -> None:
    call = ("demo", "caption", "--out", place, "--languages", "en, tr")
    result = done(*call)
    lines = result.out.splitlines()
    assert "(en, tr): 24 pictures to learn from, 6 to test" in lines[0]
    table = [line.split() for line in lines if line.endswith(" s")]
    assert [row[:-5] for row in table] == [["en"], ["tr"], ["en,", "no", "attention"]]
    assert all(float(one) >= 0 for row in table for one in row[-5:-1])
    shown = [line for line in lines if "(its name: " in line]
    assert [line.split()[1] for line in shown] == ["en:", "tr:"] * 3
    assert "(its name: tr red square)" in shown[1]
    assert "🐜" in shown[0]  # the first test picture, 1f41c
    assert ElementTree.fromstring((place / "attention.svg").read_text("utf-8")).tag.endswith("svg")
    done("predict", place / "tr", place / "data/pictures/1f400.png")
    weights = (place / "en" / "model.safetensors").read_bytes()
    assert done(*call).out == result.out
    assert (place / "en" / "model.safetensors").read_bytes() == weights


def test_the_names_of_a_language_stand_in_its_column(place: Path) -> None:
    from regard.demos.caption import _column

    squares(place, languages=LANGUAGES, tones=False)
    row = (place / "test.tsv").read_text("utf-8").splitlines()[0].split("\t")
    assert all(row[_column(language) - 1].startswith(language) for language in LANGUAGES)


def test_what_is_missing_is_told_before_anything_is_written(
    place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refused(regard("demo", "caption", "--out", place, "--languages", "en,xx"), 2, "no names in 'xx'")
    assert not place.exists()
    monkeypatch.setattr("regard.demos.caption.write_emoji", emoji.write_emoji)
    monkeypatch.setattr(emoji, "PICTURES", emoji.PICTURES._replace(name="no-such-package"))
    result = regard("demo", "caption", "--out", place)
    refused(result._replace(err=result.err.splitlines()[-1]), 2, "no-such-package", "regard[corpora]")
    gone = {name: package._replace(name="nor-this") for name, package in pretrained.PACKAGES.items()}
    monkeypatch.setattr(pretrained, "PACKAGES", gone)
    monkeypatch.setattr("regard.demos.shared.frozen_network", pretrained.load_pretrained)  # as if it were not loaded
    refused(regard("demo", "caption", "--out", tmp_path / "other"), 2, "nor-this", "regard[pretrained]")
    assert not (tmp_path / "other").exists()


def test_languages_go_with_captions_only(tmp_path: Path) -> None:
    refused(regard("demo", "--languages", "en", "--out", tmp_path / "x"), 2, "--languages goes with caption")
