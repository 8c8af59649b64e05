"""The library is compiled where it can be, and its absence is no error."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from regard.encoders.recurrent import FusedLayer
from regard.fast import inside, kernels, packed, recurrence
from regard.fast.switch import plain


@pytest.fixture(autouse=True)
def anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kernels.library.cache_clear()
    yield
    kernels.library.cache_clear()


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nowhere/cc")
    assert kernels.library() is None


def test_a_compiler_may_be_named_with_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("this machine has no C compiler")
    monkeypatch.setenv("CC", f"'{compiler}' -O1")
    assert kernels.library() is not None


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", home)
    assert kernels.library() is None


def test_a_compiler_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    assert kernels.library() is None


def test_a_compiler_without_openmp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its kernels are made all the same, for one thread; a team of three is then a team of one."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("this machine has no C compiler")
    poor = tmp_path / "cc"
    poor.write_text(f'#!/bin/sh\ncase "$*" in *"-fopenmp "*|*-fopenmp) exit 1;; esac\nexec {compiler} "$@"\n')
    poor.chmod(0o755)
    monkeypatch.setenv("CC", str(poor))
    assert kernels.library() is not None
    monkeypatch.setattr(inside, "team", lambda rows: 3)
    monkeypatch.setattr(recurrence, "loops_inside", lambda rows: True)
    layer, vectors, lengths = FusedLayer("lstm", 5, 7, True), torch.randn(4, 6, 5), torch.tensor([6, 2, 1, 5])
    fast = layer(vectors, lengths)
    with plain():
        torch.testing.assert_close(fast.values, layer(vectors, lengths).values, atol=1e-5, rtol=0)


def test_threads_are_shared_only_where_there_is_one_set_of_them() -> None:
    line = "7f00-7f01 r-xp 00000000 fe:00 1234   /somewhere/"
    assert (
        kernels.openmp_libraries(f"{line}libgomp.so.1\n{line}libgomp.so.1\n{line}libc.so.6\n7f02-7f03 rw-p 0 0 0\n")
        == 1
    )
    assert kernels.openmp_libraries(f"{line}libgomp-a34b3233.so.1\n{line}libgomp.so.1\n") == 2
    assert kernels.openmp_libraries(f"{line}libc.so.6\n") == 0


@pytest.mark.parametrize(("many", "rows", "threads"), [(1, 64, 1), (2, 64, 2), (2, 31, 1), (8, 64, 4)])
def test_a_thread_has_rows_enough(many: int, rows: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: many)
    monkeypatch.setattr(packed, "joins_threads", lambda: True)
    assert packed.team(rows) == threads
    assert packed.loops_inside(rows) == (2 * threads > many)
    monkeypatch.setattr(packed, "joins_threads", lambda: False)
    assert packed.team(rows) == 1
    assert packed.loops_inside(rows) == (many == 1)


def test_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_KERNELS", "0")
    assert kernels.library() is None


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert kernels.library() is None


def test_compiled_once(tmp_path: Path) -> None:
    if kernels.library() is None:
        pytest.skip("this machine has no C compiler")
    (made,) = (tmp_path / "regard").iterdir()
    written = made.stat().st_mtime_ns
    kernels.library.cache_clear()
    assert kernels.library() is not None
    assert made.stat().st_mtime_ns == written


def test_a_compiled_library_is_found_without_starting_a_program() -> None:
    """A process that holds torch takes long to fork."""
    if kernels.library() is None:
        pytest.skip("this machine has no C compiler")
    code = """if True:
        import sys
        sys.addaudithook(lambda event, about: print(about[1]) if event == "subprocess.Popen" else None)
        from regard.fast.kernels import library
        print(library() is not None)
    """
    found = subprocess.run([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, check=True)
    assert found.stdout == "True\n"
