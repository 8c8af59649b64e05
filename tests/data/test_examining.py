"""A table of files: each is looked at once, and every bad one is named."""

from pathlib import Path

import pytest

from regard.data.examining import examine
from regard.data.picture import Picture
from regard.data.view import View
from regard.errors import MissingExtra
from tests.data.made import bomb, cut, noise, save

LINES = View(1, "height", 8, widest=100)


def test_bad_ones_are_told_apart_and_named(tmp_path: Path) -> None:
    good = [save(tmp_path / f"{number}.png", noise(8, 9 + number)) for number in range(20)]
    (tmp_path / "text.png").write_text("hello")
    bad = [
        str(tmp_path / "none.png"),
        str(tmp_path / "text.png"),
        cut(save(tmp_path / "a.jpg", noise(64, 64)), 0.5),
        bomb(tmp_path / "bomb.png", 60_000, 60_000),
        save(tmp_path / "wide.png", noise(8, 101)),
        "data:image/png;base64,AAAA",
    ]
    mixed = [*good[:7], *bad, *good[7:]]
    found = examine(mixed * 2, lambda source: Picture.open(source, LINES))
    assert list(found.found) == good
    assert [found.found[source].width for source in good] == [9 + number for number in range(20)]
    assert list(found.wrong) == bad
    for source, said in found.wrong.items():
        assert Path(source).name in said or "that was sent" in said


def test_each_is_opened_once() -> None:
    opened: list[str] = []
    examine(list("abcab"), opened.append)
    assert sorted(opened) == ["a", "b", "c"]


def test_other_errors_are_not_the_files() -> None:
    def missing(_: str) -> None:
        raise MissingExtra("pillow", "vision")

    with pytest.raises(MissingExtra):
        examine(["a", "b"], missing)
    assert examine([], missing).found == {}
