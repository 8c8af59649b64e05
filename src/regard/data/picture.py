"""Pictures of which only the size is known until a batch needs them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.image import read_header
from regard.data.origin import name_of, stamp
from regard.data.planes import Pictures
from regard.data.recent import DECODED, Recent
from regard.data.threads import in_threads
from regard.data.view import View
from regard.errors import DataError

ROUND = 32  # pixels; lines are some hundreds wide


@dataclass(frozen=True)
class Picture:
    """Where a picture is, how it is seen, and how large it is then."""

    source: str
    view: View
    height: int
    width: int

    @classmethod
    def open(cls, source: str, view: View) -> "Picture":
        """From the header alone; DataError if the file cannot be used."""
        header = read_header(source)
        try:
            return cls(source, view, *view.size_of(header.width, header.height))
        except DataError as error:
            raise DataError(f"{name_of(source)}: {error}") from error

    def pixels(self, recent: Recent = DECODED) -> NDArray[np.uint8]:
        """(C, H, W), decoded now or lately."""
        mark = stamp(self.source)
        pixels = recent.get((mark, self.view), self._decode) if mark else self._decode()
        if pixels.shape[1:] != (self.height, self.width):
            raise DataError(
                f"{name_of(self.source)} was replaced by one of another size while it was in use; start again"
            )
        return pixels

    def load(self, recent: Recent = DECODED) -> NDArray[np.float32]:
        return self.view.numbers(self.pixels(recent))  # (C, H, W)

    def _decode(self) -> NDArray[np.uint8]:
        return self.view.pixels(self.source)


def stack(pictures: Sequence[Picture], recent: Recent = DECODED) -> Pictures:
    """Pictures of one view in one rectangle, zero to the right of each and below.

    For every width that is new the library of convolutions writes its code anew; so rectangles around pictures of
    unlike widths have few.
    """
    decoded = in_threads(lambda picture: picture.load(recent), pictures)
    sizes = torch.tensor([(one.height, one.width) for one in pictures])  # (B, 2)
    height, width = sizes.amax(0).tolist()
    width = width if (sizes[:, 1] == width).all() else -(-width // ROUND) * ROUND
    data = torch.zeros(len(pictures), pictures[0].view.channels, height, width)
    for plane, numbers in zip(data, decoded, strict=True):
        plane[:, : numbers.shape[1], : numbers.shape[2]] = torch.from_numpy(numbers)
    return Pictures(data, sizes)
