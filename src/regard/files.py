"""Writing files so that a crash, a full disk or a kill leaves either the old content or the new, never half of one."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from regard.errors import RegardError

TEMPORARY = ".regard.tmp"


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, flush it to disk, then rename it over `path`."""
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=TEMPORARY)
        temporary = Path(name)
        os.fchmod(handle, 0o666 & ~_umask())  # mkstemp makes private files; a run folder is shared like any other
        os.close(handle)
        write(temporary)
        _flush(temporary)
        os.replace(temporary, path)
        _flush(path.parent)
    except OSError as error:
        raise RegardError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    def fill(temporary: Path) -> None:
        temporary.write_bytes(content)

    write_atomically(path, fill)


def remove_leftovers(folder: Path) -> None:
    """What a kill in the middle of a write left behind; nobody else may be writing there."""
    for temporary in folder.rglob(f".*{TEMPORARY}"):
        temporary.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)  # the only way to read it is to set it
    os.umask(mask)
    return mask
