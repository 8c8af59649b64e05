"""Paths and data URLs: what is opened, what is refused, what tells two contents apart."""

import os
from pathlib import Path

import pytest

from regard.data.origin import digest, is_sent, name_of, open_bytes, stamp
from regard.errors import DataError

HELLO = "data:image/png;base64,aGVsbG8="


def content(source: str, most: int = 100) -> bytes:
    with open_bytes(source, most) as stream:
        return stream.read()


def test_paths_and_urls_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"hello")
    assert content(str(tmp_path / "a")) == content(HELLO) == content(HELLO.replace("data:i", "DATA:I")) == b"hello"
    assert content("data:video/mp4;codecs=avc1;base64,aGVsbG8=") == b"hello"


@pytest.mark.parametrize(
    "source",
    [
        "data:",
        "data:image/png,hello",
        "data:text/html;base64,aGVsbG8=",
        "data:image/png;base64",
        "data:image/png;base64,",
        "data:image/png;base64,aGVsbG8",
        "data:image/png;base64,aGVs bG8=",
        "data:image/png;base64,äGVsbG8=",
        "data:image/../../secret;base64,aGVsbG8=",
        "data:" + "x" * 1_000_000,
    ],
)
def test_an_url_that_is_wrong_is_refused_and_never_a_path(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if len(source) < 100 and "/" not in source:
        Path(source).write_bytes(b"secret")
    with pytest.raises(DataError) as caught:
        content(source)
    assert len(str(caught.value)) < 300


def test_what_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"hello")
    assert content(HELLO, 6) == b"hello"  # counted before it is decoded, so to three bytes
    for source in (str(tmp_path / "a"), HELLO):
        with pytest.raises(DataError, match="more than the 0 MB"):
            content(source, 4)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    wrong = {
        "none": "no file",
        "": "a folder",
        "empty": "is empty",
        "pipe": "no ordinary file",
        "a\0b": "null",
        "x" * 999: "long",
    }
    for name, said in wrong.items():
        with pytest.raises(DataError, match=said):
            content(f"{tmp_path}/{name}")


def test_names_in_messages_are_short() -> None:
    assert name_of("shelf/a.png") == "shelf/a.png"
    assert name_of("x/" * 999 + "a.png").endswith("a.png")
    assert len(name_of("x/" * 999 + "a.png")) < 210
    assert len(name_of("data:image/png;base64," + "A" * 10_000)) < 70
    assert is_sent(HELLO)
    assert not is_sent("data/a.png")


def test_a_digest_changes_with_the_content_and_only_with_it(tmp_path: Path) -> None:
    for name, text in {"a": b"hello", "b": b"hello", "c": b"hellO"}.items():
        (tmp_path / name).write_bytes(text)
    a, b, c = (digest(str(tmp_path / name)) for name in "abc")
    assert a == b == digest(HELLO)
    assert a != c


def test_the_digest_of_a_folder_knows_names_and_contents(tmp_path: Path) -> None:
    def folder(name: str, **files: bytes) -> str:
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_bytes(text)
        return digest(str(tmp_path / name))

    first = folder("one", a=b"1", b=b"2")
    assert first == folder("two", b=b"2", a=b"1")
    assert len({first, folder("three", a=b"2", b=b"1"), folder("four", a=b"1", c=b"2"), folder("five", a=b"1")}) == 4


def test_a_stamp_changes_when_a_file_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"hello")
    before = stamp(str(path)), stamp(str(tmp_path))
    assert (stamp(str(path)), stamp(str(tmp_path))) == before
    os.utime(path, ns=(1, 1))
    assert stamp(str(path)) != before[0]
    assert stamp(str(tmp_path)) != before[1]
    assert stamp(HELLO) is None
