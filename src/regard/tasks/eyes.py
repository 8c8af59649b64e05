"""How a run looks at pictures and clips: kept in its codec, and the same in training and ever after.

An eye opens a source, a path or what somebody sent, by its header; what it hands back is read when a batch needs it
(data.batching.Joins), and knows how many places a model will find in it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import torch
from torch import Tensor

from regard.data.clip import Clip, ClipView, stack_clips
from regard.data.features import Features
from regard.data.picture import Picture, stack
from regard.data.planes import Clips, Pictures
from regard.data.view import View
from regard.encoders.pretrained import Pretrained, load_pretrained
from regard.errors import DataError
from regard.pictures.raster import png_bytes
from regard.pictures.scene import Clip as ClipScene
from regard.pictures.scene import Plane, Scene

TOGETHER = 16  # pictures that a frozen encoder sees at once


class Sight(Protocol):
    """A source that was opened."""

    def __len__(self) -> int: ...  # places that a model finds in it

    @property
    def names(self) -> list[str]: ...  # of these places

    def decode(self) -> None: ...  # DataError if the file is damaged behind its header

    def join(self, several: Sequence[Any]) -> Any: ...  # sights of one eye → tensors

    def measures(self) -> dict[str, Any]: ...  # how many cells or frames there are

    def scene(self) -> Scene: ...  # what is drawn under the weights of its places


class Eye(Protocol):
    kind: str

    def open(self, source: str) -> Sight: ...  # DataError names a file that cannot be used

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class PictureEye:
    """Cells of `stride` × `stride` pixels, or with `columns` as wide as that and as high as the picture; `frozen` names
    an encoder that sees the picture before the model does."""

    view: View
    stride: int
    frozen: str = ""
    line: bool = False  # pictures are lines of writing
    columns: bool = False  # whose places are columns

    kind = "picture"

    def open(self, source: str) -> "PictureSight":
        return PictureSight(Picture.open(source, self.view), self)

    def to_json(self) -> dict[str, Any]:
        kept = {"stride": self.stride, "frozen": self.frozen, "line": self.line, "columns": self.columns}
        return {"kind": self.kind, "view": self.view.to_json(), **kept}


@dataclass(frozen=True)
class PictureSight:
    picture: Picture
    eye: PictureEye

    @property
    def rows(self) -> int:
        return 1 if self.eye.columns else -(-self.picture.height // self.eye.stride)

    @property
    def columns(self) -> int:
        return -(-self.picture.width // self.eye.stride)

    def __len__(self) -> int:
        return self.rows * self.columns

    @property
    def names(self) -> list[str]:
        return [f"{row}:{column}" for row in range(1, self.rows + 1) for column in range(1, self.columns + 1)]

    def decode(self) -> None:
        self.picture.pixels()

    def join(self, several: Sequence["PictureSight"]) -> Pictures:
        pictures = [one.picture for one in several]
        return frozen_maps(self.eye.frozen, pictures) if self.eye.frozen else stack(pictures)

    def measures(self) -> dict[str, Any]:
        return {"grid": [self.rows, self.columns]}

    def scene(self) -> Plane:
        pixels = self.picture.pixels()  # (C, H, W)
        shown = 255 - pixels if self.picture.view.invert else pixels
        return Plane(png_bytes(shown.transpose(1, 2, 0)), self.rows, self.columns, line=self.eye.line)


@dataclass(frozen=True)
class ClipEye:
    """A place for each frame; `frozen` names an encoder that has seen the frames before the model does."""

    view: ClipView
    frozen: str = ""

    kind = "clip"

    def open(self, source: str) -> "ClipSight":
        return ClipSight(Clip.open(source, self.view), self)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "view": self.view.to_json(), "frozen": self.frozen}


@dataclass(frozen=True)
class ClipSight:
    clip: Clip
    eye: ClipEye

    def __len__(self) -> int:
        return self.clip.length

    @property
    def names(self) -> list[str]:
        return [str(number) for number in range(1, len(self) + 1)]

    def decode(self) -> None:
        self.clip.pixels()

    def join(self, several: Sequence["ClipSight"]) -> Clips:
        clips = [one.clip for one in several]
        return frozen_frames(self.eye.frozen, clips) if self.eye.frozen else stack_clips(clips)

    def measures(self) -> dict[str, Any]:
        return {"frames": len(self)}

    def scene(self) -> ClipScene:
        return ClipScene(tuple(png_bytes(frame.transpose(1, 2, 0)) for frame in self.clip.pixels()))


def eye_from_json(content: Any) -> PictureEye | ClipEye:
    """What an eye's `to_json` wrote; DataError if it was something else."""
    if not isinstance(content, dict) or content.get("kind") not in ("picture", "clip"):
        raise DataError(f"expected how sources are seen, of kind picture or clip; found {str(content)[:80]}")
    try:
        if content["kind"] == "clip":
            return ClipEye(ClipView.from_json(content["view"]), str(content["frozen"]))
        stride, line, columns = content["stride"], content["line"], content.get("columns", False)
        if type(stride) is not int or stride < 1:
            raise DataError(f"stride is {stride!r:.40}; expected 1, 2, 3, …")
        if not isinstance(line, bool) or not isinstance(columns, bool):
            raise DataError(f"line is {line!r:.40} and columns is {columns!r:.40}; expected true or false")
        return PictureEye(View.from_json(content["view"]), stride, str(content["frozen"]), line, columns)
    except KeyError as error:
        raise DataError(f"how sources are seen lacks {error}") from error


def frozen_maps(name: str, pictures: Sequence[Picture]) -> Pictures:
    """What the encoder of this name makes of pictures: computed once, kept on disk."""
    sources = [picture.source for picture in pictures]
    maps = _kept(name, pictures[0].view).gather(
        sources, lambda places: _computed(name, [pictures[place] for place in places])
    )
    sizes = torch.tensor([one.shape[1:] for one in maps])  # (B, 2)
    data = torch.zeros(len(maps), maps[0].shape[0], *sizes.amax(0).tolist())
    for plane, one in zip(data, maps, strict=True):
        plane[:, : one.shape[1], : one.shape[2]] = torch.from_numpy(one)
    return Pictures(data, sizes)


def frozen_frames(name: str, clips: Sequence[Clip]) -> Clips:
    """The mean over the map that the encoder makes of each frame, as maps of one cell: (B, F, V, 1, 1)"""
    kept = _kept(name, clips[0].view)
    found = kept.gather([clip.source for clip in clips], lambda places: [_filmed(name, clips[one]) for one in places])
    lengths = [len(one) for one in found]
    data = torch.zeros(len(clips), max(lengths), found[0].shape[1], 1, 1)
    for row, one in zip(data, found, strict=True):
        row[: len(one), :, 0, 0] = torch.from_numpy(one)
    return Clips(data, torch.tensor(lengths), torch.ones(len(clips), 2, dtype=torch.long))


def _computed(name: str, pictures: Sequence[Picture]) -> list[Any]:
    """Maps (V, H', W')"""
    made = []
    for begin in range(0, len(pictures), TOGETHER):
        maps = _map(name, stack(pictures[begin : begin + TOGETHER]))
        sizes = maps.sizes.tolist()
        made += [one[:, :height, :width].numpy() for one, (height, width) in zip(maps.data, sizes, strict=True)]
    return made


def _filmed(name: str, clip: Clip) -> Any:
    """(F, V)"""
    frames = torch.from_numpy(clip.load())  # (F, C, H, W)
    parts = [frames[begin : begin + TOGETHER] for begin in range(0, len(frames), TOGETHER)]
    sizes = torch.tensor(frames.shape[2:])
    return torch.cat([_map(name, Pictures(one, sizes.expand(len(one), 2))).data.mean((2, 3)) for one in parts]).numpy()


def _map(name: str, pictures: Pictures) -> Pictures:
    network = frozen_network(name)
    device: Tensor = next(network.parameters())  # type: ignore[attr-defined]
    with torch.no_grad():
        return network.map(pictures.to(device.device)).to(torch.device("cpu"))


@cache
def frozen_network(name: str) -> Pretrained:
    network = load_pretrained(name)
    network.requires_grad_(False)
    return network


@cache
def _kept(name: str, view: View | ClipView) -> Features:
    return Features(f"{frozen_network(name).key} {json.dumps(view.to_json())}")
