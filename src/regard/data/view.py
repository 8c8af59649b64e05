"""How a picture becomes numbers: said once, kept with the run, the same in training and ever after."""

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.image import decode
from regard.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
FITS = ("square", "height", "within", "whole")
LARGEST = 8192  # pixels of a side


class Box(NamedTuple):
    """A part of a picture, in its pixels."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True)
class View:
    """Channels, size and scale of what a network sees.

    square  the middle of the picture, as wide as its shorter side, at size × size. So the shorter side is scaled to
            `size` and the longer one cropped on both ends, as for captions in Xu et al. 2015 (who keep 7/8 of the
            shorter side too; here all of it).
    height  all of it, `size` high and as wide as its shape asks: lines of writing. One that would be wider than
            `widest` is refused: squeezed letters are other letters.
    within  all of it, as it is; made smaller, in its shape, if a side is longer than `size`.
    whole   all of it, in its shape, the longer side `size`: what is smaller is enlarged. For networks that were trained
            on pictures in which things are larger than in yours.

    Numbers are x / 255, or 1 − x / 255 with `invert`: dark ink on light paper then is light on zero, and the zeros
    that fill a batch are paper too. With `mean` and `std` they become (x − mean) / std, channel by channel.
    """

    channels: int = 3
    fit: str = "square"
    size: int = 224
    widest: int = 2048
    invert: bool = False
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _expect(self.channels in (1, 3) and type(self.channels) is int, "channels", self.channels, "1 or 3")
        _expect(self.fit in FITS, "fit", self.fit, ", ".join(FITS))
        for name in ("size", "widest"):
            side = getattr(self, name)
            _expect(type(side) is int and 1 <= side <= LARGEST, name, side, f"a whole number from 1 to {LARGEST}")
        _expect(type(self.invert) is bool, "invert", self.invert, "true or false")
        each = f"{self.channels} numbers, one for each channel, or none"
        _expect(_numbers(self.mean) and len(self.mean) in (0, self.channels), "mean", self.mean, each)
        _expect(_numbers(self.std) and len(self.std) == len(self.mean), "std", self.std, "as many numbers as mean")
        _expect(all(one > 0 for one in self.std), "std", self.std, "numbers greater than 0")

    def size_of(self, width: int, height: int) -> tuple[int, int]:
        """Height and width of what `pixels` gives for a picture of this width and height; decodes nothing."""
        if self.fit == "square":
            return self.size, self.size
        if self.fit in ("within", "whole"):
            scale = self.size / max(width, height)
            scale = min(1.0, scale) if self.fit == "within" else scale
            return max(1, round(height * scale)), max(1, round(width * scale))
        wide = max(1, round(width * self.size / height))
        if wide > self.widest:
            raise DataError(
                f"a picture of {width} × {height} pixels would be {wide} wide at height {self.size}, more than "
                f"{self.widest}; cut it into shorter lines, or allow wider ones"
            )
        return self.size, wide

    def shown(self, width: int, height: int) -> Box:
        """The part of such a picture that is seen: all but what a square crops."""
        if self.fit != "square":
            return Box(0, 0, width, height)
        side = min(width, height)
        left, top = (width - side) // 2, (height - side) // 2
        return Box(left, top, left + side, top + side)

    def read(self, source: str) -> NDArray[np.float32]:
        """(C, H, W), ready for a network."""
        return self.numbers(self.pixels(source))

    def pixels(self, source: str) -> NDArray[np.uint8]:
        """(C, H, W), before scale: what is worth keeping in memory."""
        return self.fitted(decode(source, self.channels))

    def fitted(self, image: "Image") -> NDArray[np.uint8]:
        """(C, H, W) of an image of mode L or RGB, whichever has these channels."""
        from PIL.Image import Resampling

        height, width = self.size_of(*image.size)
        image = image.resize((width, height), Resampling.BILINEAR, box=self.shown(*image.size))
        pixels = np.asarray(image, dtype=np.uint8).reshape(height, width, self.channels).transpose(2, 0, 1)
        return np.ascontiguousarray(255 - pixels if self.invert else pixels)

    def numbers(self, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Pixels (…, C, H, W) as numbers of the same shape."""
        scaled = pixels.astype(np.float32) / np.float32(255)
        if not self.mean:
            return scaled
        mean, std = (np.array(each, dtype=np.float32)[:, None, None] for each in (self.mean, self.std))
        return (scaled - mean) / std

    def to_json(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, content: object) -> "View":
        """What `to_json` wrote; DataError if it was something else."""
        names = [field.name for field in fields(cls)]
        if not isinstance(content, dict) or not set(content) <= set(names):
            raise DataError(f"expected how a picture is seen, with {', '.join(names)}; found {str(content)[:80]}")
        values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in content.items()}
        return cls(**values)


def _numbers(values: object) -> bool:
    return isinstance(values, tuple) and all(type(one) in (int, float) and math.isfinite(one) for one in values)


def _expect(right: bool, name: str, found: object, expected: str) -> None:
    if not right:
        raise DataError(f"{name} of a view is {str(found)[:40]}; expected {expected}")
