"""What a frozen encoder makes of a file, kept on disk: computed once, not once an epoch or a run.

An entry is named by the content of the file and by `key`, which says who computed it and how the file was seen, so a
changed file or encoder never meets an old entry. It is a .npy of half precision with a checksum behind it; one that was
damaged counts as missing. Processes may share a folder: a write happens as a whole, and all of them write the same.
What was sent is computed each time: strangers should not fill a server's disk.
"""

import hashlib
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.origin import digest, is_sent, name_of, stamp
from regard.errors import DataError, RegardError
from regard.files import write_bytes

CHECKSUM = 16  # bytes


def default_folder() -> Path:
    """$XDG_CACHE_HOME/regard/features, or the same in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "regard" / "features"


class Features:
    """Arrays by file, of one encoder and one view: `Features("resnet18 1.0 " + json.dumps(view.to_json()))`."""

    def __init__(self, key: str, folder: Path | None = None):
        self.key, self.folder = key, folder or default_folder()
        self._digests: dict[Any, str] = {}  # of files that were not touched since

    def gather(
        self, sources: Sequence[str], compute: Callable[[list[int]], Sequence[NDArray[Any]]]
    ) -> list[NDArray[np.float32]]:
        """The array of each source; `compute` makes those that are missing, of which it is told the places."""
        found = [self.find(source) for source in sources]
        missing = [place for place, one in enumerate(found) if one is None]
        computed = compute(missing) if missing else []
        fresh = {place: self.keep(sources[place], one) for place, one in zip(missing, computed, strict=True)}
        return [fresh[place] if one is None else one for place, one in enumerate(found)]

    def find(self, source: str) -> NDArray[np.float32] | None:
        if is_sent(source):
            return None
        path = self.path(source)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RegardError(f"cannot read {path}: {error.strerror or error}") from error
        body, checksum = content[:-CHECKSUM], content[-CHECKSUM:]
        if _checksum(body) != checksum:
            return None
        half: NDArray[np.float16] = np.load(io.BytesIO(body), allow_pickle=False)
        return half.astype(np.float32)

    def keep(self, source: str, array: NDArray[Any]) -> NDArray[np.float32]:
        """Write it, and give back what will be read from now on: rounded to half precision."""
        if not np.all(np.abs(array) <= np.finfo(np.float16).max):  # NaN is not
            raise DataError(
                f"the features of {name_of(source)} do not fit in half precision: they are not finite or huge"
            )
        half = np.asarray(array).astype(np.float16)
        if not is_sent(source):
            self._write(source, half)
        return half.astype(np.float32)

    def _write(self, source: str, half: NDArray[np.float16]) -> None:
        body = io.BytesIO()
        np.save(body, half, allow_pickle=False)
        path = self.path(source)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RegardError(f"cannot make the folder {path.parent}: {error.strerror or error}") from error
        write_bytes(path, body.getvalue() + _checksum(body.getvalue()))

    def path(self, source: str) -> Path:
        name = hashlib.blake2b(f"{self._digest(source)} {self.key}".encode(), digest_size=20).hexdigest()
        return self.folder / name[:2] / f"{name[2:]}.npy"

    def _digest(self, source: str) -> str:
        mark = stamp(source)
        if mark is None:
            return digest(source)
        if mark not in self._digests:
            self._digests[mark] = digest(source)
        return self._digests[mark]


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM).digest()
