"""The frames of a clip, whichever way they are stored: a folder of pictures, an animation, a video."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from regard.data.image import check_pixels, decode, flatten, open_image, read_header, seems_whole
from regard.data.origin import is_sent, name_of, open_bytes
from regard.data.video import MOST_BYTES, Video, check_frames, check_sum
from regard.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")

ENDINGS = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".gif"}
ANIMATIONS = ("GIF", "WEBP")


class Reel(Protocol):
    @property
    def total(self) -> int: ...  # frames

    def frames(self, numbers: Sequence[int], channels: int, show: "Callable[[Image], T]") -> list[T]:
        """`show` of the frames of these numbers, from 0 and ascending, as images of mode L or RGB."""


def open_reel(source: str, chosen: Callable[[int], list[int]]) -> Reel:
    """The kind is told by the content; what cannot be used is a DataError. `chosen` of their number are to be read."""
    if not is_sent(source) and os.path.isdir(source):
        return Folder.open(source, chosen)
    with open_bytes(source, MOST_BYTES) as stream:
        begin = stream.read(12)
    animated = begin.startswith(b"GIF8") or (begin.startswith(b"RIFF") and begin.endswith(b"WEBP"))
    return Animation.open(source) if animated else Video.open(source)


class Folder(NamedTuple):
    """Pictures in the order of their names, in which 2 comes before 10."""

    paths: tuple[str, ...]

    @property
    def total(self) -> int:
        return len(self.paths)

    @classmethod
    def open(cls, source: str, chosen: Callable[[int], list[int]]) -> "Folder":
        found = [one for one in Path(source).iterdir() if one.suffix.lower() in ENDINGS and one.name[0] != "."]
        if not found:
            raise DataError(f"the folder {name_of(source)} has no frames; expected pictures such as frame1.png")
        paths = tuple(str(one) for one in sorted(found, key=lambda one: natural(one.name)))
        for number in chosen(len(paths)):
            header = read_header(paths[number])
            check_frames(source, len(paths), header.width, header.height)
        return cls(paths)

    def frames(self, numbers: Sequence[int], channels: int, show: "Callable[[Image], T]") -> list[T]:
        return [show(decode(self.paths[number], channels)) for number in numbers]


class Animation(NamedTuple):
    """GIF or WebP that moves, or one that does not: a clip of one frame."""

    source: str
    total: int

    @classmethod
    def open(cls, source: str) -> "Animation":
        with open_image(source, ANIMATIONS, MOST_BYTES) as image:
            count = getattr(image, "n_frames", 1)
            check_frames(source, count, *image.size)
            if not seems_whole(image):
                for _ in walk(source, image, count - 1):
                    pass
                image.load()
        return cls(source, count)

    def frames(self, numbers: Sequence[int], channels: int, show: "Callable[[Image], T]") -> list[T]:
        with open_image(self.source, ANIMATIONS, MOST_BYTES) as image:
            frames = walk(self.source, image, numbers[-1])
            return [show(flatten(image, channels)) for number in frames if number in numbers]


def walk(source: str, image: "Image", last: int) -> Iterator[int]:
    """The image at each frame up to `last`. None is left out, for Pillow decodes them all; and each is counted, for one
    may be larger than those before."""
    pixels = 0
    for number in range(last + 1):
        image.seek(number)
        check_pixels(source, *image.size)
        pixels += image.width * image.height
        check_sum(source, pixels)
        yield number


def natural(name: str) -> tuple[list[tuple[str, int]], str]:
    """Sorts names by the numbers in them: every other part is one."""
    parts = re.split(r"([0-9]+)", name)
    return [(text, int(number)) for text, number in zip(parts[::2], [*parts[1::2], "0"], strict=True)], name
