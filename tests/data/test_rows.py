import gzip
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from regard.data.rows import BadLine, Paths, Row, _open, open_rows, split_path
from regard.errors import DataError, MissingExtra, UsageError


def write(folder: Path, name: str, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


RowsOf = Callable[[Paths], Iterator[Row]]
CellsOf = Callable[[Paths], list[Any]]


@pytest.fixture
def rows_of() -> Iterator[RowsOf]:
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(open_rows(path))


@pytest.fixture
def cells_of(rows_of: RowsOf) -> CellsOf:
    return lambda path: [row.cells for row in rows_of(path)]


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a", "a.tsv.gz", "a.gz"])
def test_tabs_separate_columns(tmp_path: Path, name: str, rows_of: RowsOf) -> None:
    path = write(tmp_path, name, "a\tb\tc\nd\n\n e \tf")
    assert list(rows_of(path)) == [
        Row(f"{path}, line 1", ["a", "b", "c"]),
        Row(f"{path}, line 2", ["d"]),
        Row(f"{path}, line 3", [""]),
        Row(f"{path}, line 4", [" e ", "f"]),
    ]


def test_a_byte_order_mark_and_windows_line_ends_disappear(tmp_path: Path, cells_of: CellsOf) -> None:
    assert cells_of(write(tmp_path, "a.tsv", b"\xef\xbb\xbfa\tb\r\nc\td\r\n")) == [["a", "b"], ["c", "d"]]


def test_only_a_line_feed_ends_a_line(tmp_path: Path, cells_of: CellsOf) -> None:
    odd = "a\u2028b\x85c\x0bd\x0ce\x1cf\u2029g"
    assert cells_of(write(tmp_path, "a.tsv", f"{odd}\t{odd}\n")) == [[odd, odd]]
    assert cells_of(write(tmp_path, "a.csv", f"{odd},{odd}\n")) == [[odd, odd]]
    assert cells_of(write(tmp_path, "a.jsonl", f'{{"source": "{odd[0:2]}"}}\n')) == [{"source": odd[0:2]}]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "b.CSV"])
def test_csv_fields_may_be_quoted(tmp_path: Path, name: str, rows_of: RowsOf) -> None:
    path = write(tmp_path, name, 'a,"b, c"\r\n"say ""hi""","two\nlines"\n\nx,y\n')
    assert list(rows_of(path)) == [
        Row(f"{path}, line 1", ["a", "b, c"], "comma"),
        Row(f"{path}, line 2", ['say "hi"', "two\nlines"], "comma"),
        Row(f"{path}, line 4", [], "comma"),
        Row(f"{path}, line 5", ["x", "y"], "comma"),
    ]


def test_csv_with_an_open_quote_names_where_it_opened(tmp_path: Path, rows_of: RowsOf) -> None:
    rows = rows_of(write(tmp_path, "a.csv", 'a,b\nc,"d\ne,f\n'))
    assert next(rows).cells == ["a", "b"]
    with pytest.raises(BadLine, match=r"a\.csv, line 2: not valid CSV .* check the quotes"):
        next(rows)


def test_csv_after_an_open_quote_is_read_again_from_the_next_line(tmp_path: Path, rows_of: RowsOf) -> None:
    good = "".join(f"{number},x\n" for number in range(50))
    rows = rows_of(write(tmp_path, "a.csv", f'a,b\n"c,d\n{good}"e,f\n{good}'))
    read, bad = [], []
    while True:
        try:
            read.append(next(rows).cells)
        except BadLine as error:
            bad.append(str(error))
        except StopIteration:
            break
    assert len(read) == 101
    assert [one.partition(": not valid CSV")[0].rpartition(" ")[2] for one in bad] == ["2", "53"]


def test_a_field_of_csv_may_be_long(tmp_path: Path, rows_of: RowsOf) -> None:
    assert len(next(rows_of(write(tmp_path, "a.csv", f"a,{'b' * 200_000}\n"))).cells[1]) == 200_000


def test_csv_goes_on_after_a_bad_record(tmp_path: Path, rows_of: RowsOf) -> None:
    rows = rows_of(write(tmp_path, "a.csv", b'a,"b"c\n\xff,d\ne,f\n'))
    with pytest.raises(BadLine, match="line 1: not valid CSV"):
        next(rows)
    with pytest.raises(BadLine, match=r"line 2: byte 1 \(0xff\) is not valid UTF-8"):
        next(rows)
    assert next(rows).cells == ["e", "f"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_json_lines(tmp_path: Path, name: str, cells_of: CellsOf) -> None:
    path = write(tmp_path, name, '{"source": "a", "n": 1}\n\n{"source": "é"}\n')
    assert cells_of(path) == [{"source": "a", "n": 1}, [], {"source": "é"}]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"source": "a"', "line 1: not a JSON object .*source"),
        ('["a", "b"]', "line 1: expected a JSON object such as .*, found .*a"),
        ("[" * 100_000, "line 1: not a JSON object"),
        ("1" * 5000, "line 1: not a JSON object"),
    ],
)
def test_bad_json_is_one_bad_line(tmp_path: Path, line: str, message: str, rows_of: RowsOf) -> None:
    rows = rows_of(write(tmp_path, "a.jsonl", line + '\n{"source": "b"}\n'))
    with pytest.raises(BadLine, match=message) as caught:
        next(rows)
    assert len(str(caught.value)) < 300
    assert next(rows).cells == {"source": "b"}


def test_two_parallel_files(tmp_path: Path, rows_of: RowsOf, cells_of: CellsOf) -> None:
    first, second = write(tmp_path, "t.de", "ja\r\nnein\n"), write(tmp_path, "t.en.gz", "yes\nno")
    assert cells_of(f"{first},{second}") == cells_of([first, second]) == [["ja", "yes"], ["nein", "no"]]
    assert next(rows_of([first, second])).place == f"{first}, line 1 and {second}, line 1"


def test_a_comma_may_be_part_of_a_name(tmp_path: Path, cells_of: CellsOf) -> None:
    assert cells_of(write(tmp_path, "a,b.tsv", "x\ty\n")) == [["x", "y"]]


@pytest.mark.parametrize(("one", "two"), [("a\n", "a\nb\nc\n"), ("a\nb\nc\n", "a\n"), ("a\n", "")])
def test_parallel_files_of_unequal_length(tmp_path: Path, one: str, two: str, rows_of: RowsOf) -> None:
    first, second = write(tmp_path, "t.de", one), write(tmp_path, "t.en", two)
    counts = rf"t\.de has {one.count(chr(10))}, .*t\.en has {two.count(chr(10))}$"
    with pytest.raises(DataError, match=counts):
        list(rows_of([first, second]))


def test_a_bad_line_does_not_shift_parallel_files(tmp_path: Path, rows_of: RowsOf) -> None:
    first, second = write(tmp_path, "t.de", b"\xff\nb\n"), write(tmp_path, "t.en", "x\ny\n")
    rows = rows_of([first, second])
    with pytest.raises(BadLine, match=r"t\.de, line 1: byte 1"):
        next(rows)
    assert next(rows).cells == ["b", "y"]


def test_one_or_two_files_but_not_three() -> None:
    with pytest.raises(UsageError, match="expected one file or two parallel files, found 3: a, b, c"):
        split_path("a,b,c")
    assert split_path(Path("a")) == ["a"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, rows_of: RowsOf) -> None:
    stream = io.TextIOWrapper(io.BytesIO("a\tब\n\xff".encode("utf-8", "replace") + b"\xff\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    rows = rows_of("-")
    assert next(rows) == Row("standard input, line 1", ["a", "ब"])
    with pytest.raises(BadLine, match="standard input, line 2: byte 3"):
        next(rows)
    assert list(rows) == []
    assert not stream.buffer.closed


def test_invalid_utf8_names_line_and_byte(tmp_path: Path, rows_of: RowsOf) -> None:
    rows = rows_of(write(tmp_path, "a.tsv", b"ok\tok\nab\xe9\tx\nc\td\n"))
    next(rows)
    with pytest.raises(BadLine, match=r"a\.tsv, line 2: byte 3 \(0xe9\) is not valid UTF-8; convert"):
        next(rows)
    assert next(rows).cells == ["c", "d"]


def test_utf16_is_recognised(tmp_path: Path, rows_of: RowsOf) -> None:
    with pytest.raises(BadLine, match=r"line 1: byte 1 \(0xff\) .*looks like UTF-16"):
        next(rows_of(write(tmp_path, "a.tsv", "a\tb\n".encode("utf-16"))))


def test_a_missing_file_names_its_neighbours(tmp_path: Path, rows_of: RowsOf) -> None:
    write(tmp_path, "pairs.tsv", "a\tb\n")
    with pytest.raises(UsageError, match=r"there is no file .*pair\.tsv; did you mean .*pairs\.tsv\?"):
        next(rows_of(str(tmp_path / "pair.tsv")))
    with pytest.raises(UsageError, match=r"there is no file .*zebra$"):
        next(rows_of(str(tmp_path / "zebra")))
    with pytest.raises(UsageError, match=r"there is no folder .*nowhere either"):
        next(rows_of(str(tmp_path / "nowhere" / "pairs.tsv")))


def test_a_folder_is_not_a_file(tmp_path: Path, rows_of: RowsOf) -> None:
    with pytest.raises(UsageError, match="is a folder; expected a file"):
        next(rows_of(str(tmp_path)))


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_of: RowsOf) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, "a.tsv", "a\tb\n")
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(UsageError, match=r"cannot read .*a\.tsv: Permission denied"):
        next(rows_of(path))


@pytest.mark.parametrize("damage", ["not gzip", "cut", "flipped"])
def test_a_corrupt_gzip_file(tmp_path: Path, damage: str, rows_of: RowsOf) -> None:
    whole = gzip.compress(b"".join(b"%d\t%d\n" % (number, number**3) for number in range(5000)))
    middle = len(whole) // 2
    flipped = bytes(255 - byte for byte in whole[middle : middle + 99])
    content = {
        "not gzip": b"a\tb\n",
        "cut": whole[:middle],
        "flipped": whole[:middle] + flipped + whole[middle + 99 :],
    }[damage]
    (tmp_path / "a.tsv.gz").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.tsv\.gz is not a whole gzip file"):
        list(rows_of(str(tmp_path / "a.tsv.gz")))


def test_hub_data_set(monkeypatch: pytest.MonkeyPatch, rows_of: RowsOf, cells_of: CellsOf) -> None:
    calls: list[tuple[tuple[str, ...], str]] = []

    def load_dataset(*names: str, split: str) -> list[dict[str, str]]:
        calls.append((names, split))
        return [{"source": "a", "target": "b"}]

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    row = {"source": "a", "target": "b"}
    assert list(rows_of("hf:me/words")) == [Row("hf:me/words, row 1", row)]
    assert cells_of("hf:me/words,2:dev") == cells_of("hf:books:de-en:test") == [row]
    assert calls == [(("me/words",), "train"), (("me/words,2",), "dev"), (("books", "de-en"), "test")]
    with pytest.raises(UsageError, match="expected hf:NAME"):
        rows_of("hf:a:b:c:d")


def test_hub_data_set_that_is_not_there(monkeypatch: pytest.MonkeyPatch, rows_of: RowsOf) -> None:
    def load_dataset(name: str, split: str) -> None:
        raise FileNotFoundError("no such data set on the hub")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    with pytest.raises(UsageError, match=r"cannot load the data set words \(split dev\): no such data set"):
        rows_of("hf:words:dev")


def test_hub_data_set_without_the_library(monkeypatch: pytest.MonkeyPatch, rows_of: RowsOf) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"regard\[datasets\]"):
        rows_of("hf:words")


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.tsv.gz", "a.tsv,a.csv"])
def test_files_are_closed_wherever_reading_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    opened: list[Any] = []

    def watch(path: str) -> Any:
        opened.append(_open(path))
        return opened[-1]

    monkeypatch.setattr("regard.data.rows._open", watch)
    paths = [write(tmp_path, part, '{"a": 1}\n{"a": 2}\n') for part in name.split(",")]
    with open_rows(paths) as rows:
        next(rows)
        assert not any(stream.closed for stream in opened)
    assert [stream.closed for stream in opened] == [True] * len(paths)
