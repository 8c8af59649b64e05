import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.readers import Columns, Example, Reading, read_pairs, read_sources
from regard.errors import DataError, UsageError


def write(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def pairs(path: str | list[str], columns: Columns | None = None) -> list[tuple[str, ...]]:
    examples = read_pairs(path, columns or Columns()).examples
    return [(example.source, example.target, example.features) for example in examples]


def test_examples_know_their_place(tmp_path: Path) -> None:
    path = write(tmp_path, "pairs.tsv", "cat\tk æ t\n\ndog\td ɒ ɡ\n")
    assert read_pairs(path, Columns()) == Reading(
        [
            Example("cat", "k æ t", place=f"{path}, line 1"),
            Example("dog", "d ɒ ɡ", place=f"{path}, line 3"),
        ],
        [],
    )


@pytest.mark.parametrize(
    ("line", "columns", "expected"),
    [
        ("lemma\tform\tN;ACC", Columns(features=3), ("lemma", "form", "N;ACC")),
        ("roman\tदेव\t3", Columns(), ("roman", "देव", "")),
        ("target\tsource", Columns(2, 1), ("source", "target", "")),
        ("lemma\tform\t", Columns(features=3), ("lemma", "form", "")),
    ],
)
def test_columns_by_number(tmp_path: Path, line: str, columns: Columns, expected: tuple[str, ...]) -> None:
    assert pairs(write(tmp_path, "a.tsv", line + "\n"), columns) == [expected]


@pytest.mark.parametrize(("name", "separator"), [("a.tsv", "\t"), ("a.csv", ",")])
def test_columns_by_name_need_a_header(tmp_path: Path, name: str, separator: str) -> None:
    table = "\ufeffform,features,lemma \r\nran,PST,run\r\n".replace(",", separator)
    path = write(tmp_path, name, table)
    assert pairs(path, Columns("lemma", "form", "features")) == [("run", "ran", "PST")]
    assert pairs(path, Columns("lemma", 1)) == [("run", "ran", "")]
    assert pairs(path, Columns(3, 1, header=True)) == [("run", "ran", "")]


def test_an_unknown_name_is_told_the_known_ones(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "lemma\tform\nrun\tran\n")
    message = r"a\.tsv, line 1: the header has no column 'lema', only lemma, form; did you mean lemma\?"
    with pytest.raises(UsageError, match=message):
        read_pairs(path, Columns("lema", "form"))


def test_columns_count_from_one() -> None:
    with pytest.raises(UsageError, match="counted from 1, found 0"):
        Columns(0, 1)


def test_text_is_normalised_and_features_keep_their_case(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", " CAFE\u0301 \tÉ\tN;PL\n")
    assert pairs(path, Columns(features=3)) == [("CAFÉ", "É", "N;PL")]
    found = read_pairs(path, Columns(features=3), lowercase=True).examples[0]
    assert (found.source, found.target, found.features) == ("café", "é", "N;PL")


def test_json_keys(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"source": "a", "target": "b", "features": "c", "x": "d"}\n\n')
    assert pairs(path) == [("a", "b", "")]
    assert pairs(path, Columns(features=3)) == [("a", "b", "c")]
    assert pairs(path, Columns("x", "source")) == [("d", "a", "")]


def test_json_translation(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"id": 1, "translation": {"de": "ja", "en": "yes"}}\n')
    assert pairs(path, Columns("de", "en")) == [("ja", "yes", "")]
    with pytest.raises(DataError, match=r"line 1: there is no key 'source', only id, translation, de, en"):
        read_pairs(path, Columns())


def test_hub_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"translation": {"de": "ja", "en": "yes"}}, {"translation": {"de": "nein", "en": "no"}}]
    hub = SimpleNamespace(load_dataset=lambda name, split: rows)
    monkeypatch.setitem(sys.modules, "datasets", hub)
    assert pairs("hf:opus:test", Columns("en", "de")) == [("yes", "ja", ""), ("no", "nein", "")]
    with pytest.raises(DataError, match=r"hf:opus, row 1: there is no key 'fr'"):
        read_pairs("hf:opus", Columns("en", "fr"))


def test_parallel_files_are_source_and_target_whatever_the_columns(tmp_path: Path) -> None:
    first, second = write(tmp_path, "t.de", "ja\nnein\n"), write(tmp_path, "t.en", "yes\nno\n")
    for columns in (Columns(), Columns("de", "en"), Columns(2, 1, header=True)):
        assert pairs(f"{first},{second}", columns) == [("ja", "yes", ""), ("nein", "no", "")]
    with pytest.raises(UsageError, match="no features column"):
        read_pairs([first, second], Columns(features=3))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tb\n")))
    assert pairs("-") == [("a", "b", "")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match="standard input is empty"):
        read_pairs("-", Columns())


@pytest.mark.parametrize(
    ("name", "bad", "message"),
    [
        ("a.tsv", "one", r"line 2: expected at least 2 tab-separated columns, found 1 \('one'\)"),
        ("a.tsv", "one,two", r"found 1 \('one,two'\); if commas separate the columns, name the file \.csv"),
        ("a.tsv", "one two", r"found 1 \('one two'\); put a tab, not spaces"),
        ("a.tsv", "x" * 999, r"found 1 \('x{40}…'\)"),
        ("a.csv", "one", r"line 2: expected at least 2 comma-separated columns, found 1"),
        ("a.tsv", "\tb", "line 2: the source is empty"),
        ("a.tsv", "a\t ", "line 2: the target is empty"),
        ("a.tsv", b"\xe9\tb", r"line 2: byte 1 \(0xe9\) is not valid UTF-8"),
        ("a.csv", 'a,"b"c', "line 2: not valid CSV"),
        ("a.jsonl", "{", "line 2: not a JSON object"),
        ("a.jsonl", "[1]", "line 2: expected a JSON object"),
        ("a.jsonl", "{}", "line 2: there is no key 'source', only none at all"),
        ("a.jsonl", '{"word": "a", "target": "b"}', "line 2: there is no key 'source', only word, target"),
        ("a.jsonl", '{"source": 7, "target": "b"}', "line 2: 'source' is '7'; expected text"),
        ("a.jsonl", '{"source": "\\ud800", "target": "b"}', r"line 2: the text holds U\+D800"),
    ],
)
def test_a_bad_line_stops_or_is_skipped(tmp_path: Path, name: str, bad: str | bytes, message: str) -> None:
    good = {"a.tsv": b"c\td", "a.csv": b"c,d", "a.jsonl": b'{"source": "c", "target": "d"}'}[name]
    raw = bad if isinstance(bad, bytes) else bad.encode()
    path = write(tmp_path, name, b"\n".join([good, raw, good]))
    with pytest.raises(DataError, match=message) as caught:
        read_pairs(path, Columns())
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert "--skip-bad-lines" in str(caught.value)
    examples, skipped, numbers, _ = read_pairs(path, Columns(), skip_bad_lines=True)
    assert numbers == [0, 2]
    assert [(example.source, example.place) for example in examples] == [
        ("c", f"{path}, line 1"),
        ("c", f"{path}, line 3"),
    ]
    assert len(skipped) == 1
    assert skipped[0].startswith(f"{path}, line 2: ")


def test_empty_lines_in_parallel_files_are_bad(tmp_path: Path) -> None:
    first, second = write(tmp_path, "t.de", "a\n\nc\n"), write(tmp_path, "t.en", "x\n\nz\n")
    with pytest.raises(DataError, match=r"t\.de, line 2 and .*t\.en, line 2: the source is empty"):
        read_pairs([first, second], Columns())
    assert len(read_pairs([first, second], Columns(), skip_bad_lines=True).examples) == 2


def test_too_few_columns_counts_features(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "lemma\tform\n")
    with pytest.raises(DataError, match=r"at least 3 tab-separated columns, found 2 \('lemma\\tform'\); .*_column"):
        read_pairs(path, Columns(features=3))


@pytest.mark.parametrize("content", ["", "\n\r\n", "\ufeff"])
def test_an_empty_file(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError, match=r"a\.tsv is empty"):
        read_pairs(write(tmp_path, "a.tsv", content), Columns())


def test_a_header_and_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.tsv is empty"):
        read_pairs(write(tmp_path, "a.tsv", "word\tphones\n"), Columns("word", "phones"))


def test_nothing_left_after_skipping(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "a\nb\n")
    with pytest.raises(DataError, match=r"none of 2 lines can be used; the first: .*line 1: expected"):
        read_pairs(path, Columns(), skip_bad_lines=True)


def test_broken_files_are_not_bad_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv.gz", gzip.compress(b"a\tb\n" * 999)[:-12])
    with pytest.raises(DataError, match="not a whole gzip file"):
        read_pairs(path, Columns(), skip_bad_lines=True)
    with pytest.raises(UsageError, match="there is no file"):
        read_pairs(str(tmp_path / "none.tsv"), Columns(), skip_bad_lines=True)


def sources(path: str, columns: Columns | None = None) -> list[tuple[str, str]]:
    return [(example.source, example.features) for example in read_sources(path, columns).examples]


def test_sources_keep_their_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "\ufeffone\r\n\r\n  \nFour words\n\n")
    assert sources(path) == [("one", ""), ("", ""), ("", ""), ("Four words", ""), ("", "")]
    assert read_sources(path, lowercase=True).examples[3] == Example("four words", "", place=f"{path}, line 4")


def test_sources_with_features(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "run\tV;PST\n\nrun\tran\tV;PRS\n")
    assert sources(path, Columns(features=3)) == [("run", "V;PST"), ("", ""), ("run", "V;PRS")]
    path = write(tmp_path, "b.tsv", "run\n")
    with pytest.raises(DataError, match=r"b\.tsv, line 1: expected at least 2 tab-separated columns"):
        read_sources(path, Columns(features=3))


def test_sources_may_come_as_the_table_used_in_training(tmp_path: Path) -> None:
    assert sources(write(tmp_path, "a.tsv", "a\tb\n"), Columns(2, 1)) == [("b", "")]
    assert sources(write(tmp_path, "a.tsv", "a\n"), Columns(2, 1)) == [("a", "")]
    table = write(tmp_path, "a.tsv", "tags\tlemma\nPST\trun\n")
    assert sources(table, Columns("lemma", "form", "tags")) == [("run", "PST")]
    assert sources(write(tmp_path, "a.tsv", "x\ty\na\tb\n"), Columns(1, 2, header=True)) == [("a", "")]


def test_a_plain_list_needs_no_header(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "run\tPST\ngo\tPRS\n")
    assert sources(path, Columns("lemma", "form", "tags")) == [("run", "PST"), ("go", "PRS")]
    assert sources(write(tmp_path, "a.txt", "x\ny\n"), Columns(1, 2, header=True)) == [("x", ""), ("y", "")]


def test_sources_in_csv_json_and_from_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources(write(tmp_path, "a.csv", '"a, b"\n\nc\n')) == [("a, b", ""), ("", ""), ("c", "")]
    path = write(tmp_path, "a.jsonl", '{"source": "a"}\n\n{"source": "b"}\n')
    assert sources(path) == [("a", ""), ("", ""), ("b", "")]
    path = write(tmp_path, "a.jsonl", '{"word": "a"}\n{"word": "b"}\n')
    assert sources(path, Columns("word", "phones")) == [("a", ""), ("b", "")]
    hub = SimpleNamespace(load_dataset=lambda name, split: [{"translation": {"de": "ja"}}])
    monkeypatch.setitem(sys.modules, "datasets", hub)
    assert sources("hf:opus", Columns("de", "en")) == [("ja", "")]


def test_no_sources(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.txt is empty"):
        read_sources(write(tmp_path, "a.txt", ""))


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=9).filter(
    lambda text: bool(text.strip().lstrip("\ufeff").strip())
)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_every_line_becomes_one_example(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8", newline="\n")
    examples, skipped, *_ = read_pairs(path, Columns())
    assert len(examples) == len(rows)
    assert skipped == []


def test_a_class_may_be_a_number(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"text": "fine", "label": 1}')
    assert read_pairs(path, Columns("text", "label")).examples[0].target == "1"


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("a.tsv", "a\tx\t0-0\nb\ty\n", 3),
        ("a.jsonl", '{"source": "a", "target": "x", "links": "0-0"}\n{"source": "b", "target": "y"}\n', "links"),
    ],
)
def test_a_row_may_lack_what_is_known_of_places_only_where_that_is_said(
    tmp_path: Path, name: str, text: str, column: str | int
) -> None:
    path = write(tmp_path, name, text)
    found = read_pairs(path, Columns(where=column, needs_where=False)).examples
    assert [one.where for one in found] == ["0-0", ""]
    with pytest.raises(DataError, match="line 2"):
        read_pairs(path, Columns(where=column))


def test_a_header_may_lack_it_too(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "de\ten\na\tx\n")
    assert read_pairs(path, Columns("de", "en", where="links", needs_where=False)).examples[0].where == ""
    with pytest.raises(UsageError, match="no column 'links'"):
        read_pairs(path, Columns("de", "en", where="links"))
