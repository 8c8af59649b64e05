"""Laws of all drawn data sets: one seed one set of bytes, nothing on two sides, tables never without pictures."""

from pathlib import Path

import pytest

from regard.data.corpora import MADE, Written
from regard.data.corpora.drawings import DRAWINGS, write_drawing
from regard.errors import DataError, RegardError, UsageError
from tests.command import done, refused, regard

PARTS = ("train", "dev", "test")
COUNT = 60


def rows(written: Written, part: str) -> list[list[str]]:
    return [line.split("\t") for line in (written.folder / f"{part}.tsv").read_text("utf-8").splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    folder = tmp_path_factory.mktemp("drawn")
    return {name: write_drawing(name, folder / name, count=COUNT, dev=0.2, test=0.2) for name in DRAWINGS}


@pytest.mark.parametrize("name", DRAWINGS)
def test_the_same_seed_gives_the_same_bytes_and_another_other_pictures(
    name: str, drawn: dict[str, Written], tmp_path: Path
) -> None:
    again = write_drawing(name, tmp_path / "again", count=COUNT, dev=0.2, test=0.2)
    other = write_drawing(name, tmp_path / "other", count=COUNT, dev=0.2, test=0.2, seed=1)
    here, there = contents(drawn[name].folder), contents(other.folder)
    assert contents(again.folder) == here
    pictures = [path for path in here if path.endswith((".png", ".gif"))]
    assert len(pictures) == COUNT
    assert not {here[path] for path in pictures} & {there[path] for path in pictures}


@pytest.mark.parametrize("name", DRAWINGS)
def test_every_row_has_its_picture_and_no_picture_nor_what_it_shows_is_on_two_sides(
    name: str, drawn: dict[str, Written]
) -> None:
    folder = drawn[name].folder
    shown = [{row[0]: row for row in rows(drawn[name], part)} for part in PARTS]
    paths = [set(part) for part in shown]
    assert sum(map(len, paths)) == len(set.union(*paths)) == COUNT
    assert len({(folder / path).read_bytes() for part in paths for path in part}) == COUNT  # no two are alike
    if name != "shapes-questions":  # their answers are few; that their pictures are held back is checked above
        targets = [{row[1] for row in part.values()} for part in shown]
        assert sum(map(len, targets)) == len(set.union(*targets))


def test_questions_are_asked_of_the_pictures_that_captions_hold_back(drawn: dict[str, Written]) -> None:
    for part in PARTS:
        assert {row[0] for row in rows(drawn["shapes"], part)} == {
            row[0] for row in rows(drawn["shapes-questions"], part)
        }


@pytest.mark.parametrize("name", DRAWINGS)
def test_fewer_pictures_are_the_first_of_more(name: str) -> None:
    drawing = DRAWINGS[name]
    assert list(drawing.rows(5, 3)) == [row for row in drawing.rows(9, 3) if row.source < f"{_folder(name)}/00005"]
    assert list(drawing.pictures(5, 3)) == list(drawing.pictures(9, 3))[:5]


def _folder(name: str) -> str:
    return "clips" if name == "moves" else "pictures"


def test_the_readme_says_what_the_columns_are(drawn: dict[str, Written]) -> None:
    readme = (drawn["moves"].folder / "README.txt").read_text("utf-8")
    assert "Columns: clip, sentence, class;" in readme
    assert f"drawn, {COUNT} with the seed 0" in readme
    assert all(len(row) == 3 for row in rows(drawn["moves"], "train"))
    assert set(DRAWINGS) < set(MADE)


def test_a_full_disk_leaves_no_table_without_its_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_drawing("digits", tmp_path / "out", count=COUNT)

    def stops(count: int, seed: int):  # type: ignore[no-untyped-def]
        yield "pictures/00000.png", b"first"
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(DRAWINGS, "digits", DRAWINGS["digits"]._replace(pictures=stops))
    with pytest.raises(RegardError, match=r"cannot write pictures into .*: No space left"):
        write_drawing("digits", tmp_path / "out", count=COUNT)
    assert not list((tmp_path / "out").glob("*.tsv"))
    monkeypatch.undo()
    assert write_drawing("digits", tmp_path / "out", count=COUNT).files  # the folder is known again


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="count=0"):
        write_drawing("shapes", tmp_path / "out", count=0)
    with pytest.raises(DataError, match="too small"):
        write_drawing("shapes", tmp_path / "out", count=2)
    (tmp_path / "mine").write_text("")
    with pytest.raises(UsageError, match="not empty"):
        write_drawing("shapes", tmp_path)
    assert not (tmp_path / "out").exists()


def test_through_the_command_line(tmp_path: Path) -> None:
    result = done("data", "moves", "--out", tmp_path / "out", "--count", 60)
    assert [line.partition(":")[0] for line in result.out.splitlines()] == ["train.tsv", "dev.tsv", "test.tsv"]
    listed = done("data", "list").out
    assert all(f"\n{call} " in listed for call in MADE)
    refused(regard("data", "shpaes", "--out", tmp_path / "x"), 2, "did you mean shapes")
    refused(regard("data", "shapes", "--languages", "en", "--out", tmp_path / "x"), 2, "--languages goes with emoji")
    refused(regard("data", "cmudict", "--count", 5, "--out", tmp_path / "x"), 2, "--count goes with lines, shapes")
