"""Files of links are read as written, and what is wrong with one is said with file, line and fix."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.links import FORMS, Link, Links, Size, join_links, read_links, symbol_links
from regard.data.readers import Example, Reading
from regard.data.words import Word
from regard.errors import DataError, UsageError

places = st.tuples(st.integers(0, 99), st.integers(0, 99))


@pytest.mark.parametrize("form", FORMS)
@given(sure=st.sets(places), possible=st.sets(places))
def test_what_is_written_is_read_again(form: str, sure: set[tuple[int, int]], possible: set[tuple[int, int]]) -> None:
    links = Links.of(sure, possible)
    assert FORMS[form].read(FORMS[form].write(links)) == links


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("pharaoh", "0-2 1?0 1p1"),
        ("talp", "1-3 2P1 2p2"),
        ("talp", "1S3 2p1 2P2"),
        ("json", '{"links": [[0, 2]], "possible": [[1, 0], [1, 1], [0, 2]], "source": ["a", "b"]}'),
    ],
)
def test_the_same_links_in_every_form(form: str, line: str) -> None:
    assert FORMS[form].read(line) == Links.of([(0, 2)], [(1, 0), (1, 1)])


def test_forms_written_by_hand() -> None:
    links = Links.of([(1, 0), (0, 2)], [(3, 3)])
    assert FORMS["pharaoh"].write(links) == "0-2 1-0 3?3"
    assert FORMS["talp"].write(links) == "1-3 2-1 4P4"
    assert json.loads(FORMS["json"].write(links)) == {"links": [[0, 2], [1, 0]], "possible": [[3, 3]]}


def test_a_sure_link_is_possible_too() -> None:
    links = FORMS["pharaoh"].read("0-0 0?0")
    assert links == Links(frozenset({Link(0, 0)}), frozenset({Link(0, 0)}))


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def test_a_file_by_its_ending_with_empty_lines(tmp_path: Path) -> None:
    sizes = [Size(2, 3)] * 3
    expected = [Links.of([(0, 0)]), Links.of([]), Links.of([(1, 2)])]
    assert read_links(write(tmp_path / "gold", "0-0", "", "1-2"), sizes) == expected
    assert read_links(write(tmp_path / "gold.talp", "1-1", "", "2-3"), sizes) == expected
    assert read_links(write(tmp_path / "gold.jsonl", '{"links": [[0, 0]]}', "", '{"links": [[1, 2]]}'), sizes) == (
        expected
    )
    assert read_links(write(tmp_path / "gold.txt", "1-1", "", "2-3"), sizes, "talp") == expected
    (tmp_path / "crlf").write_bytes(b"\xef\xbb\xbf0-0\r\n\r\n1-2")
    assert read_links(tmp_path / "crlf", sizes) == expected


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("gold", "0-0 1:1", r"gold, line 2, read as pharaoh: '1:1' is no link; expected such as 0-2"),
        ("gold", "0-0-0", r"is no link"),
        ("gold", "-1-0", r"is no link"),
        ("gold", "0s0", r"is no link"),
        ("gold", "2-0", r"line 2.* source word 3, but that side has 2"),
        ("gold", "0?3", r"line 2.* target word 4, but that side has 3"),
        ("gold.talp", "0-1", r"read as talp: '0-1' has a word 0.*counted from 1.*pharaoh"),
        ("gold.json", "[[0, 0]]", r"is no object"),
        ("gold.json", '{"linx": [[0, 0]]}', r"'linx' is no key; expected links"),
        ("gold.json", '{"links": [[0]]}', r"'links' is \[\[0\]\]; expected pairs"),
        ("gold.json", '{"links": [[0, true]]}', r"expected pairs"),
        ("gold.json", '{"links": [[0, -1]]}', r"expected pairs"),
        ("gold.json", "0-0", r"line 2, read as json"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, name: str, line: str, said: str) -> None:
    first = "{}" if name.endswith("json") else ""
    with pytest.raises(DataError, match=said):
        read_links(write(tmp_path / name, first, line), [Size(2, 3)] * 2)


def test_other_files_than_one_line_a_pair(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has 1 lines for 2 pairs"):
        read_links(write(tmp_path / "gold", "0-0"), [Size(1, 1)] * 2)
    with pytest.raises(DataError, match="no links at all"):
        read_links(write(tmp_path / "gold", "", ""), [Size(1, 1)] * 2)
    with pytest.raises(UsageError, match=r"cannot read .*nowhere"):
        read_links(tmp_path / "nowhere", [])
    (tmp_path / "latin").write_bytes(b"0-0 \xff")
    with pytest.raises(DataError, match=r"not UTF-8 \(byte 5\)"):
        read_links(tmp_path / "latin", [Size(1, 1)])


def test_links_join_the_rows_they_were_made_for(tmp_path: Path) -> None:
    file = tmp_path / "links.talp"
    file.write_text("1-1\n2-1 1P1\n\n1S2\n")
    examples = [Example("a", "b"), Example("c", "d"), Example("e", "f")]
    found = join_links(Reading(examples, ["row 2 was bad"], [0, 2, 3]), file)
    assert [one.where for one in found] == ["0-0", "", "0-1"]
    with pytest.raises(DataError, match="4 lines for 3 pairs"):
        join_links(Reading(examples, []), file)


def test_links_of_words_are_links_of_all_their_symbols() -> None:
    source, target = [Word("ab", range(2)), Word("c", range(2, 3))], [Word("x", range(1)), Word("yz", range(1, 3))]
    assert symbol_links("1-0 0-1 0?0", source, target) == ((0, 2), (1, 0), (1, 1), (2, 0), (2, 1))
    with pytest.raises(ValueError, match="source word 3, but that side has 2"):
        symbol_links("2-0", source, target)
