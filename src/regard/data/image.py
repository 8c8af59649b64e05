"""A picture file → upright pixels of eight bits, grey or red, green and blue; what cannot be trusted is refused.

Bytes, kind and pixels are counted before anything is decoded, and the kind is told by the content, never by the name.
Pillow warns about much that only this file needs to know; while it works here its warnings are silent. Its own limits
are left alone: they belong to whoever else uses it in this process.
"""

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from regard.data.origin import is_sent, name_of, open_bytes
from regard.errors import DataError, MissingExtra, RegardError

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

MOST_BYTES = 64 * 2**20
MOST_PIXELS = 50_000_000
MOST_SENT = 25_000_000  # the same of a picture that somebody sent: a few kilobytes can hold them
KINDS = ("PNG", "JPEG", "TIFF", "WEBP", "GIF")
EXPECTED = "PNG, JPEG, TIFF, WebP or GIF"
ORIENTATION, BITS, COLOURS = 274, 258, 262  # tags of EXIF and TIFF
STRIPS, TILES = (273, 279), (324, 325)  # where the parts of a TIFF lie, and how many bytes each has
WHITE_IS_ZERO = 0


class Header(NamedTuple):
    """What is known of a picture before it is decoded."""

    width: int  # as it is looked at: the camera's rotation is counted in
    height: int
    kind: str


def read_header(source: str) -> Header:
    """Size and kind of a picture that seems whole; one that seems cut short is decoded to be sure."""
    with open_image(source) as image:
        found = Header(*_upright_size(image), str(image.format))
        if not seems_whole(image):
            image.load()
        return found


def decode(source: str, channels: int) -> "Image":
    """Eight bits, mode L for one channel and RGB for three; upright, its transparent parts white."""
    with open_image(source) as image:
        turn = None if image.format == "TIFF" else _turn(image)  # Pillow itself turns a TIFF; PNG: ask before loading
        image.load()
        return flatten(image if turn is None else image.transpose(turn), channels)


@contextmanager
def open_image(source: str, kinds: tuple[str, ...] = KINDS, most_bytes: int = MOST_BYTES) -> "Iterator[ImageFile]":
    """An image of Pillow whose header was checked; whatever fails inside is a DataError that names the file."""
    check_pillow()
    from PIL import Image, UnidentifiedImageError

    with open_bytes(source, most_bytes) as stream, _quiet():
        try:
            with Image.open(stream, formats=kinds) as image:
                check_pixels(source, *image.size)
                yield image
        except (RegardError, MemoryError):
            raise
        except UnidentifiedImageError as error:
            raise DataError(f"{name_of(source)} {_looks_like(stream)}; expected {EXPECTED}") from error
        except Image.DecompressionBombError as error:  # Pillow's limit, reached while the header was read
            raise DataError(f"{name_of(source)} has far too many pixels ({error}); make it smaller") from error
        except Exception as error:  # decoders fail in every way when bytes are wrong
            raise DataError(
                f"{name_of(source)} cannot be read ({error}); it may be cut short or damaged: copy it again, "
                "or save it as PNG or JPEG"
            ) from error


def check_pixels(source: str, width: int, height: int) -> None:
    if min(width, height) < 1:
        raise DataError(f"{name_of(source)} is {width} × {height} pixels; a picture has at least one")
    most = MOST_SENT if is_sent(source) else MOST_PIXELS
    if width * height > most:
        raise DataError(
            f"{name_of(source)} is {width} × {height} pixels, more than the {most / 1e6:.0f} million that are "
            "read; make it smaller"
        )


def check_pillow() -> None:
    try:
        from PIL import GifImagePlugin, JpegImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin  # noqa: F401
    except ImportError as error:
        raise MissingExtra("pillow", "vision") from error


def flatten(image: "Image", channels: int) -> "Image":
    """Any kind of pixels → eight bits in one or three channels; what is transparent shows white."""
    from PIL import Image

    if image.mode[0] in "IF":
        image = Image.fromarray(_eight_bits(image))
    elif image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    image = image if image.mode in ("1", "L") else image.convert("RGB")
    return image.convert("L" if channels == 1 else "RGB")


def _eight_bits(image: "Image") -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Grey of 12, 16 or 32 bits by the range of its kind, so that the same grey is the same number in every picture."""
    values, tags = np.asarray(image).astype(np.float32), getattr(image, "tag_v2", {})
    top = 1.0 if image.mode == "F" else 4095.0 if tags.get(BITS) == (12,) else 65535.0
    if not (values.min() >= 0 and values.max() <= top):  # NaN is not within either
        raise ValueError(f"its numbers lie from {values.min():g} to {values.max():g}, expected 0 to {top:g}")
    values *= 255 / top
    return np.rint(255 - values if tags.get(COLOURS) == WHITE_IS_ZERO else values).astype(np.uint8)


def _orientation(image: "Image") -> int:
    """1 to 8 as in EXIF, from the header alone: Pillow's own `getexif` of a PNG decodes the picture."""
    from PIL import Image

    try:
        found = Image.Image.getexif(image).get(ORIENTATION)
    except Exception:  # damaged EXIF makes no picture unreadable
        return 1
    return found if isinstance(found, int) and 1 <= found <= 8 else 1


def _turn(image: "Image") -> Any:
    from PIL.Image import Transpose as T

    turns = (
        None,
        T.FLIP_LEFT_RIGHT,
        T.ROTATE_180,
        T.FLIP_TOP_BOTTOM,
        T.TRANSPOSE,
        T.ROTATE_270,
        T.TRANSVERSE,
        T.ROTATE_90,
    )
    return turns[_orientation(image) - 1]


def _upright_size(image: "ImageFile") -> tuple[int, int]:
    tags = getattr(image, "tag_v2", None)
    width, height = (tags[256], tags[257]) if tags and image.format == "TIFF" else image.size  # some Pillows turn these
    return (height, width) if _orientation(image) > 4 else (width, height)


def seems_whole(image: "ImageFile") -> bool:
    """Does the file end as its kind ends? Costs no decoding; says yes to some damaged ones, no to some sound ones."""
    stream: Any = image.fp
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - 64))
    tail = stream.read()
    if image.format == "TIFF":
        return any(_parts_end(image, tags) <= size for tags in (STRIPS, TILES) if tags[0] in image.tag_v2)  # type: ignore[attr-defined]
    if image.format == "WEBP":
        stream.seek(4)
        return bool(int.from_bytes(stream.read(4), "little") + 8 <= size)
    if image.format == "GIF":
        return bool(tail.rstrip(b"\0").endswith(b";"))
    return (b"IEND" if image.format == "PNG" else b"\xff\xd9") in tail


def _parts_end(image: Any, tags: tuple[int, int]) -> int:
    starts, sizes = (image.tag_v2.get(tag, ()) for tag in tags)
    return max((start + size for start, size in zip(starts, sizes, strict=False)), default=0)


def _looks_like(stream: BinaryIO) -> str:
    stream.seek(0)
    begin = stream.read(512).lstrip()
    for first, meaning in OTHERS.items():
        if begin.startswith(first) or (first == b"ftyp" and begin[4:8] == first):
            return f"is {meaning}"
    return "is no picture, or one whose beginning is damaged"


OTHERS = {
    b"version https://git-lfs": "a pointer of Git LFS, not yet the picture (git lfs pull)",
    b"%PDF": "a PDF (save its pages as PNG)",
    b"<svg": "an SVG drawing (save it as PNG)",
    b"<?xml": "XML, perhaps an SVG drawing (save it as PNG)",
    b"<": "a web page, so the download may have failed",
    b"BM": "a BMP (save it as PNG)",
    b"ftyp": "HEIC, AVIF or a video (save it as PNG or JPEG)",
}

_silent = threading.Lock()
_inside = 0


@contextmanager
def _quiet() -> Iterator[None]:
    """Ignore what modules of Pillow warn of while anybody is inside.

    warnings.catch_warnings puts back the list that it found, which loses filters when threads overlap; this adds one
    filter and takes that one away.
    """
    global _inside
    with _silent:
        _inside += 1
        warnings.filterwarnings("ignore", module=r"PIL\.")
        ours = warnings.filters[0]
    try:
        yield
    finally:
        with _silent:
            _inside -= 1
            if not _inside and ours in warnings.filters:
                warnings.filters.remove(ours)  # type: ignore[attr-defined]
