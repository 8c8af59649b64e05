"""Small pictures as bytes: PNG written by hand, sizes read from headers, large ones made smaller if Pillow is there."""

import io
import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # PNG's number for grey, grey and alpha, red-green-blue, those and alpha
HEAVY = 0.6  # bytes to a pixel; a PNG beyond that is a photograph, which JPEG keeps in less
QUALITY = 85


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels (H, W) or (H, W, 1 … 4) as a PNG; each line is written as its difference to the one above."""
    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    lines = pixels.reshape(height, width * channels)
    above = np.vstack([np.zeros_like(lines[:1]), lines[:-1]])
    filtered = np.hstack([np.full((height, 1), 2, np.uint8), lines - above])  # bytes wrap round, as PNG wants it
    head = struct.pack(">IIBBBBB", width, height, 8, COLOURS[channels], 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), 9)
    return PNG + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def size(content: bytes) -> tuple[int, int]:
    """Width and height, from the head of a PNG or a JPEG."""
    try:
        found = struct.unpack_from(">II", content, 16) if content.startswith(PNG) else _jpeg_size(content)
    except (struct.error, StopIteration):
        found = (0, 0)
    if min(found) < 1:
        raise DataError(
            f"a picture of {len(content)} bytes that begins with {content[:8]!r} came; PNG and JPEG can be drawn: "
            "write it as one of these, or make one of pixels by regard.pictures.png_bytes"
        )
    return int(found[0]), int(found[1])


def _jpeg_size(content: bytes) -> tuple[int, int]:
    height, width = next(
        struct.unpack_from(">HH", content, place + 5)
        for mark, place in _segments(content)
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC)  # frames, not tables
    )
    return int(width), int(height)


def _segments(content: bytes) -> Iterator[tuple[int, int]]:
    """The parts of a JPEG: their marks and where these stand."""
    place = 2 if content.startswith(JPEG) else len(content)
    while place + 4 <= len(content):
        _, mark, length = struct.unpack_from(">BBH", content, place)
        yield mark, place
        place += 1 if mark == 0xFF else 2 + length


def data_url(content: bytes) -> str:
    kind = "png" if content.startswith(PNG) else "jpeg"
    return f"data:image/{kind};base64,{b64encode(content).decode('ascii')}"


@lru_cache(maxsize=8)  # every format of a picture asks for the same
def shrunk(content: bytes, longest: int) -> bytes:
    """The picture with no side longer than that; as it came if it is small, or if Pillow is not installed."""
    if not content or (max(size(content)) <= longest and not _heavy(content)):
        return content
    try:
        from PIL import Image
    except ImportError:
        return content
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as picture:
            picture.draft("RGB", (longest, longest))  # a JPEG is read at about the size that is wanted
            small = picture.convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"a picture of {len(content)} bytes cannot be read: {error}") from error
    small.thumbnail((longest, longest))
    as_png = png_bytes(np.asarray(small))
    if content.startswith(PNG) and not _heavy(as_png):
        return as_png
    target = io.BytesIO()
    small.save(target, "JPEG", quality=QUALITY)
    return min(target.getvalue(), as_png, key=len)


def _heavy(content: bytes) -> bool:
    width, height = size(content)
    return len(content) > HEAVY * width * height + 4000
