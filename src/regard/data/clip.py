"""Clips: some frames of each, in the order of time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.origin import stamp
from regard.data.planes import Clips
from regard.data.recent import DECODED, Recent
from regard.data.reels import Reel, open_reel
from regard.data.threads import in_threads
from regard.data.view import View
from regard.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class ClipView:
    """Which frames of a clip are seen, and how each is.

    Every k-th from the first; where these are more than `most`, the middles of `most` equally long stretches of them,
    as Yao et al. 2015 take equally spaced frames.
    """

    frame: View = field(default_factory=lambda: View(size=112))
    every: int = 1
    most: int = 32

    def __post_init__(self) -> None:
        if self.frame.fit == "height":
            raise DataError(
                "frames of clips are no lines of writing: expected fit square, within or whole, found height"
            )
        for name in ("every", "most"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise DataError(f"{name} of a clip's view is {getattr(self, name)!r:.40}; expected 1, 2, 3, …")

    def chosen(self, frames: int) -> list[int]:
        """Numbers of the frames that are seen of a clip that has so many."""
        every = range(0, frames, self.every)
        seen = min(len(every), self.most)
        return [every[(2 * place + 1) * len(every) // (2 * seen)] for place in range(seen)]

    def to_json(self) -> dict[str, Any]:
        return {"frame": self.frame.to_json(), "every": self.every, "most": self.most}

    @classmethod
    def from_json(cls, content: object) -> "ClipView":
        names = [one.name for one in fields(cls)]
        if not isinstance(content, dict) or not {"frame"} <= set(content) <= set(names):
            raise DataError(f"expected how a clip is seen, with {', '.join(names)}; found {str(content)[:80]}")
        return cls(**content | {"frame": View.from_json(content["frame"])})


@dataclass(frozen=True)
class Clip:
    """Where a clip is, how it is seen, and how its frames are stored."""

    source: str
    view: ClipView
    reel: Reel

    @classmethod
    def open(cls, source: str, view: ClipView) -> "Clip":
        """Counts frames but decodes none; DataError if the file cannot be used."""
        return cls(source, view, open_reel(source, view.chosen))

    @property
    def length(self) -> int:
        """How many frames are seen."""
        return len(self.view.chosen(self.reel.total))

    def pixels(self, recent: Recent = DECODED) -> NDArray[np.uint8]:
        """(F, C, H, W), decoded now or lately."""
        mark = stamp(self.source)
        return recent.get((mark, self.view), self._decode) if mark else self._decode()

    def load(self, recent: Recent = DECODED) -> NDArray[np.float32]:
        return self.view.frame.numbers(self.pixels(recent))  # (F, C, H, W)

    def _decode(self) -> NDArray[np.uint8]:
        view = self.view.frame
        return np.stack(self.reel.frames(self.view.chosen(self.reel.total), view.channels, _alike(view)))


def _alike(view: View) -> "Callable[[Image], NDArray[np.uint8]]":
    """Shows all frames of a clip at the size of the first, should a folder hold others too."""
    sizes: list[tuple[int, int]] = []

    def show(image: "Image") -> NDArray[np.uint8]:
        sizes.append(image.size)
        return view.fitted(image if image.size == sizes[0] else image.resize(sizes[0]))

    return show


def stack_clips(clips: Sequence[Clip], recent: Recent = DECODED) -> Clips:
    """Clips of one view in one block (B, F, C, H, W); frames after the last of each, and beside it, are zero."""
    decoded = in_threads(lambda clip: clip.load(recent), clips)
    shapes = torch.tensor([frames.shape for frames in decoded])  # (B, 4)  F, C, H, W
    data = torch.zeros(len(clips), *shapes.amax(0).tolist())
    for row, frames in zip(data, decoded, strict=True):
        length, _, height, width = frames.shape
        row[:length, :, :height, :width] = torch.from_numpy(frames)
    return Clips(data, shapes[:, 0], shapes[:, 2:])
