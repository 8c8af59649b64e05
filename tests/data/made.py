"""Pictures and clips made for a test, and what they should look like."""

import base64
import io
import struct
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]


def noise(height: int, width: int, channels: int = 3, seed: int = 0) -> Pixels:
    """(H, W, C), or (H, W) of one channel."""
    shape = (height, width) if channels == 1 else (height, width, channels)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def save(path: Path, pixels: NDArray[Any], **how: Any) -> str:
    Image.fromarray(pixels).save(path, **how)
    return str(path)


def url(pixels: Pixels, kind: str = "png") -> str:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, kind)
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode()}"


def bomb(path: Path, width: int, height: int) -> str:
    """A PNG of a few bytes whose header claims all these pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return str(path)


def tiff(path: Path, width: int, bits: int, white: int, content: bytes) -> str:
    """One row of grey, uncompressed; the number for white is 0 or not."""
    tags = {256: width, 257: 1, 258: bits, 259: 1, 262: int(white > 0), 273: 122, 277: 1, 278: 1, 279: len(content)}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    path.write_bytes(b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + struct.pack("<I", 0) + content)
    return str(path)


def cut(path: str, share: float) -> str:
    """The same file without its end."""
    short = Path(path).with_name(f"cut-{Path(path).name}")
    content = Path(path).read_bytes()
    short.write_bytes(content[: int(len(content) * share)])
    return str(short)


def grey(number: int) -> int:
    """Of a frame in the clips below: far enough from its neighbours to survive compression."""
    return 20 + 10 * number


def flat_frames(count: int, size: int = 32) -> list[Pixels]:
    return [np.full((size, size, 3), grey(number), dtype=np.uint8) for number in range(count)]


def film(path: Path, frames: list[Pixels], codec: str = "mpeg4", **options: str) -> str:
    import av

    if codec not in av.codecs_available:
        pytest.skip(f"this build of PyAV has no {codec}")
    with av.open(str(path), "w", options=options) as container:
        stream: Any = container.add_stream(codec, rate=Fraction(10))
        stream.width, stream.height, stream.pix_fmt = frames[0].shape[1], frames[0].shape[0], "yuv420p"
        for pixels in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return str(path)


def sound(path: Path) -> str:
    import av

    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), dtype=np.float32), format="fltp", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return str(path)


def animation(path: Path, frames: list[Pixels], **how: Any) -> str:
    first, *others = map(Image.fromarray, frames)
    first.save(path, save_all=True, append_images=others, duration=50, **how)
    return str(path)
