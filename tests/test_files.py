"""A write either happens as a whole or not at all, and leaves nothing else behind."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from regard.errors import RegardError
from regard.files import TEMPORARY, remove_leftovers, write_atomically, write_bytes, write_text


@contextmanager
def small_disk(size: int) -> Iterator[None]:
    """No file can grow beyond this size: what a full disk does in the middle of a write, for root too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "file.txt"
    path.write_text("old")
    return path


def unharmed(path: Path) -> bool:
    return path.read_text() == "old" and list(path.parent.iterdir()) == [path]


def test_new_and_old_files_are_written_whole(tmp_path: Path) -> None:
    for text in ("αβγ\n", "shorter"):
        write_text(tmp_path / "file.txt", text)
        assert (tmp_path / "file.txt").read_bytes() == text.encode("utf-8")
    assert [one.name for one in tmp_path.iterdir()] == ["file.txt"]


def test_a_file_may_be_read_by_whom_the_umask_lets(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "file", b"x")
        assert os.umask(0o027) == 0o027  # as it was
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_crash_in_the_middle_leaves_the_old_content(old: Path) -> None:
    def crash(temporary: Path) -> None:
        temporary.write_text("half of the n")
        raise ValueError("no number")

    with pytest.raises(ValueError, match="no number"):
        write_atomically(old, crash)
    assert unharmed(old)


def test_ctrl_c_in_the_middle_leaves_the_old_content(old: Path) -> None:
    def stop(temporary: Path) -> None:
        temporary.write_text("half of the n")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(old, stop)
    assert unharmed(old)


def test_a_disk_that_fills_up_leaves_the_old_content(old: Path) -> None:
    with small_disk(1000), pytest.raises(RegardError, match=r"cannot write .*file\.txt: File too large"):
        write_bytes(old, b"x" * 100_000)
    assert unharmed(old)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_disk_that_complains_late_leaves_the_old_content(
    old: Path, monkeypatch: pytest.MonkeyPatch, function: str, number: int
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(RegardError, match=os.strerror(number)) as caught:
        write_text(old, "new")
    assert caught.value.exit_code == 1
    assert unharmed(old)


def test_a_read_only_folder_is_named(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.mkstemp", fail)  # file permissions do not stop root
    with pytest.raises(RegardError, match=f"cannot write {old}: Read-only file system"):
        write_text(old, "new")
    assert unharmed(old)


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RegardError, match="No such file"):
        write_text(tmp_path / "none" / "file", "new")


def test_content_is_on_the_disk_before_the_name_is(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renaming first and flushing later could leave an empty file after a power cut."""
    calls: list[str] = []
    flush, rename = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (calls.append("flush"), flush(handle))[1])
    monkeypatch.setattr(os, "replace", lambda *paths: (calls.append("rename"), rename(*paths))[1])
    write_text(old, "new")
    assert calls == ["flush", "rename", "flush"]  # the last one is the folder's


def test_a_kill_leaves_the_old_content_and_what_it_leaves_is_swept(old: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from regard.files import write_atomically\n"
        "def die(temporary):\n"
        "    temporary.write_text('half of the n')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_atomically(Path(sys.argv[1]), die)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", code, str(old)], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert old.read_text() == "old"
    left = [one.name for one in old.parent.iterdir() if one != old]
    assert len(left) == 1
    assert left[0].startswith(".file.txt.")
    assert left[0].endswith(TEMPORARY)
    (old.parent / ".mine.tmp").write_text("somebody else's")
    remove_leftovers(old.parent)
    assert {one.name for one in old.parent.iterdir()} == {"file.txt", ".mine.tmp"}
