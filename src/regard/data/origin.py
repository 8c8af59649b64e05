"""Where a picture or clip comes from: a path, a folder of frames, or a `data:` URL that somebody sent.

What begins with `data:` is never a path, so what a service is sent opens no file; and a path is checked before it is
opened, so that a folder, a pipe or a device is refused rather than waited for.
"""

import base64
import hashlib
import io
import os
import re
import stat
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from regard.errors import DataError

SENT = re.compile(r"data:(image|video)/[a-z0-9.+-]{1,40}(;[a-z0-9=._+-]{1,40}){0,4};base64", re.IGNORECASE)
SHOWN = 200  # characters of a path in a message


def is_sent(source: str) -> bool:
    return source[:5].lower() == "data:"


def name_of(source: str) -> str:
    """What messages call it: the content of an upload is no name."""
    if is_sent(source):
        return f"the file that was sent ({source[:30]}…)"
    return source if len(source) <= SHOWN else f"…{source[-SHOWN:]}"


@contextmanager
def open_bytes(source: str, most: int) -> Iterator[BinaryIO]:
    """The content of a path or URL as a stream, if it is not more than `most` bytes."""
    if is_sent(source):
        yield io.BytesIO(_sent_bytes(source, most))
        return
    size = _stat(source).st_size
    if size == 0:
        raise DataError(f"{name_of(source)} is empty; was it copied or downloaded as a whole?")
    _check_size(source, size, most)
    with _open(source) as stream:
        yield stream


def stamp(source: str) -> Hashable:
    """Changes when the file does, or one in the folder; None for what was sent, which is not worth keeping."""
    if is_sent(source):
        return None
    if os.path.isdir(source):
        return tuple(stamp(path) for path in _inside(source))
    found = _stat(source)
    return os.path.abspath(source), found.st_mtime_ns, found.st_size


def digest(source: str) -> str:
    """blake2b of all bytes; of a folder, of the names and bytes of what lies in it."""
    if is_sent(source):
        return hashlib.blake2b(_sent_bytes(source, len(source)), digest_size=20).hexdigest()
    if os.path.isdir(source):
        listing = "".join(f"{digest(path)} {os.path.basename(path)!r}\n" for path in _inside(source))
        return hashlib.blake2b(listing.encode("utf-8", "backslashreplace"), digest_size=20).hexdigest()
    found = hashlib.blake2b(digest_size=20)
    _stat(source)
    with _open(source) as stream:
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def _inside(folder: str) -> list[str]:
    return sorted(str(one) for one in Path(folder).iterdir() if one.is_file())


def _open(source: str) -> BinaryIO:
    try:
        return open(source, "rb")
    except OSError as error:
        raise DataError(f"cannot read {name_of(source)}: {error.strerror or error}") from error


def _stat(source: str) -> os.stat_result:
    try:
        found = os.stat(source)
    except FileNotFoundError as error:
        raise DataError(
            f"there is no file {name_of(source)}; check its name and the folder it is relative to"
        ) from error
    except (OSError, ValueError) as error:  # a name may be too long, or hold a zero
        raise DataError(f"cannot read {name_of(source)!r}: {error}") from error
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
        raise DataError(f"{name_of(source)} is {kind}; expected a file")
    return found


def _sent_bytes(source: str, most: int) -> bytes:
    head, comma, body = source.partition(",") if "," in source[:300] else (source[:300], "", "")
    if not comma or not SENT.fullmatch(head):
        raise DataError(f"expected data:image/…;base64,… with the content of a file, found {head[:60]!r}")
    _check_size(source, len(body) * 3 // 4, most)
    try:
        content = base64.b64decode(body, validate=True)
    except ValueError as error:
        raise DataError(f"{name_of(source)} is not valid base64 ({error}); was it cut short?") from error
    if not content:
        raise DataError(f"{name_of(source)} is empty; expected the content of a file in base64")
    return content


def _check_size(source: str, size: int, most: int) -> None:
    if size > most:
        raise DataError(
            f"{name_of(source)} has {size / 1e6:,.1f} MB, more than the {most / 1e6:,.0f} MB that are read; "
            "make it smaller or compress it"
        )
