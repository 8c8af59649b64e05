"""Pictures of lines, made of any text."""

from pathlib import Path

import pytest
from PIL import Image

from regard.data.corpora import Written
from regard.data.corpora.lines import LONGEST, cut, read_lines, write_lines
from regard.errors import DataError, UsageError
from tests.command import done, refused, regard

PARTS = ("train", "dev", "test")
WORDS = [a + b + c for a in "BDGK" for b in "aei" for c in "lmrä"]  # 48


@pytest.fixture(scope="module")
def font() -> str:
    matplotlib = pytest.importorskip("matplotlib")
    return str(Path(matplotlib.__file__).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf")


def rows(written: Written, part: str) -> list[list[str]]:
    return [line.split("\t") for line in (written.folder / f"{part}.tsv").read_text("utf-8").splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Words with a line twice, an empty one, and one that the font cannot write."""
    path = tmp_path_factory.mktemp("lines") / "words.txt"
    path.write_text("\n".join([*WORDS, "", WORDS[0], "नमस्ते"]), "utf-8")
    return path


@pytest.fixture(scope="module")
def written(text: Path, font: str) -> Written:
    return write_lines(text, text.parent / "out", fonts=[font], count=100, height=32, dev=0.2, test=0.2)


def test_all_lines_are_written_and_all_pictures_of_a_text_are_on_one_side(written: Written) -> None:
    sides = [{text for _, text in rows(written, part)} for part in PARTS]
    assert set.union(*sides) == set(WORDS)
    assert sum(map(len, sides)) == len(WORDS)
    every = [row for part in PARTS for row in rows(written, part)]
    assert len(every) == len({path for path, _ in every}) == 100
    pictures = [(written.folder / path).read_bytes() for path, _ in every]
    assert len(set(pictures)) == 100  # another hand each time
    for path, _ in every:
        with Image.open(written.folder / path) as picture:
            assert (picture.mode, picture.height) == ("L", 32)


def test_what_cannot_be_written_is_counted_and_named(written: Written) -> None:
    assert written.notes[0] == "fonts: DejaVuSans.ttf"
    assert written.notes[1].startswith("1 of 49 lines left out, as no font has all their characters: न (U+0928), ")
    readme = (written.folder / "README.txt").read_text("utf-8")
    assert "words.txt, fonts: DejaVuSans.ttf" in readme
    assert str(written.folder) not in readme


def test_the_same_seed_gives_the_same_bytes_and_another_other_pictures(
    written: Written, text: Path, font: str, tmp_path: Path
) -> None:
    again = write_lines(text, tmp_path / "again", fonts=[font], count=100, height=32, dev=0.2, test=0.2)
    assert contents(again.folder) == contents(written.folder)
    other = write_lines(text, tmp_path / "other", fonts=[font], height=32, dev=0.2, test=0.2, seed=1)
    assert sum(map(len, (rows(other, part) for part in PARTS))) == len(WORDS)  # one each, as no count is given
    old, new = ({p for name, p in contents(one.folder).items() if name.endswith("png")} for one in (written, other))
    assert not old & new


def test_fewer_pictures_are_the_first_of_more(written: Written, text: Path, font: str, tmp_path: Path) -> None:
    few = write_lines(text, tmp_path / "few", fonts=[font], count=30, height=32, dev=0.2, test=0.2)
    here, there = contents(few.folder), contents(written.folder)
    pictures = [name for name in here if name.endswith("png")]
    assert len(pictures) == 30
    assert all(here[name] == there[name] for name in pictures)
    assert {tuple(row) for part in PARTS for row in rows(few, part)} < {
        tuple(row) for part in PARTS for row in rows(written, part)
    }


def test_a_few_of_many_lines_are_on_all_sides(font: str, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("\n".join(f"{one}{number}" for one in WORDS for number in range(20)), "utf-8")
    few = write_lines(tmp_path / "many.txt", tmp_path / "few", fonts=[font], count=60, height=16, dev=0.2, test=0.2)
    assert all(len(rows(few, part)) >= 5 for part in PARTS)


def test_long_lines_are_cut_between_words_into_about_equal_pieces() -> None:
    words = [f"word{number}" for number in range(20)]
    pieces = cut(" ".join(words))
    assert " ".join(pieces).split() == words
    assert max(map(len, pieces)) <= LONGEST
    assert min(map(len, pieces)) > LONGEST / 3
    assert cut("short") == ["short"]
    assert cut("") == []
    assert cut("x" * 100) == ["x" * 100]  # a word is never cut


def test_of_a_table_the_texts_of_its_pictures_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("one.png\tfirst  line\nwriter\ntwo.png\tx\n", "utf-8")
    with pytest.raises(DataError, match=r"a\.tsv, line 2: expected a picture, a tab and its text, found 'writer'"):
        list(read_lines(tmp_path / "a.tsv"))
    (tmp_path / "b.tsv").write_text("one.png\tfirst  line\n\ntwo.png\tx\tmore\n", "utf-8")
    assert list(read_lines(tmp_path / "b.tsv")) == ["first line", "x"]


def test_what_is_refused(font: str, text: Path, tmp_path: Path) -> None:
    (tmp_path / "hindi.txt").write_text("नमस्ते\nदिल्ली\n", "utf-8")
    (tmp_path / "latin.txt").write_bytes("Süß".encode("latin-1"))
    out = tmp_path / "out"
    with pytest.raises(DataError, match=r"no font has all characters of a line .*fonts: DejaVuSans"):
        write_lines(tmp_path / "hindi.txt", out, fonts=[font])
    with pytest.raises(DataError, match="is not UTF-8"):
        write_lines(tmp_path / "latin.txt", out, fonts=[font])
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(DataError, match=r"empty\.txt has no lines"):
        write_lines(tmp_path / "empty.txt", out, fonts=[font])
    with pytest.raises(UsageError, match="cannot read"):
        write_lines(tmp_path / "none.txt", out, fonts=[font])
    with pytest.raises(UsageError, match="at least 16 pixels"):
        write_lines(text, out, fonts=[font], height=8)
    with pytest.raises(UsageError, match="one picture"):
        write_lines(text, out, fonts=[font], count=0)
    assert not out.exists()


def test_no_font_at_all(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.data.corpora.fonts.folders", list)
    with pytest.raises(UsageError, match="name one with --font"):
        write_lines(text, tmp_path / "out")


def test_through_the_command_line(text: Path, font: str, tmp_path: Path) -> None:
    call = ("data", "lines", "--text", text, "--font", font, "--height", 24, "--out", tmp_path / "out")
    result = done(*call, "--seed", 3)
    assert [line.partition(":")[0] for line in result.out.splitlines()] == ["train.tsv", "dev.tsv", "test.tsv"]
    assert "fonts: DejaVuSans.ttf\n1 of 49 lines left out" in result.err
    refused(regard("data", "lines", "--out", tmp_path / "x"), 2, "lines with --text")
    refused(
        regard("data", "cloze", "--text", text, "--font", font, "--out", tmp_path / "x"), 2, "--font goes with lines"
    )
