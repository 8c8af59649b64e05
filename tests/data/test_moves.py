"""Clips move as their sentences say."""

import io
from collections import Counter

import numpy as np
from PIL import Image, ImageSequence

from regard.data.corpora.canvas import COLOURS
from regard.data.corpora.moves import FRAMES, MOTIONS, SIZE, clips, pictures, rows


def test_every_clip_moves_as_its_class_says_in_every_step() -> None:
    met: Counter[str] = Counter()
    for clip, row, (path, content) in zip(clips(60, 0), rows(60, 0), pictures(60, 0), strict=True):
        frames = [np.asarray(one.convert("RGB"), dtype=int) for one in ImageSequence.Iterator(_open(content))]
        assert row.source == clip.path == path
        assert row.target == f"a {clip.thing.colour} {clip.thing.shape} {MOTIONS[clip.motion].verb}"
        assert row.features == clip.motion
        assert len(frames) == FRAMES
        assert frames[0].shape == (SIZE, SIZE, 3)
        inside = [_covered(one, np.array(COLOURS[clip.thing.colour])) for one in frames]
        areas = np.array([one.sum() for one in inside])
        down, along = np.mgrid[:SIZE, :SIZE]
        tops, lefts = (np.array([(one * axis).sum() / one.sum() for one in inside]) for axis in (down, along))
        seen = {"left": -lefts, "right": lefts, "up": -tops, "down": tops, "grows": areas, "shrinks": -areas}
        assert (np.diff(seen[clip.motion]) > 0).all(), clip
        assert all(_border(one).max() < 0.05 for one in inside)  # it never leaves
        met[clip.motion] += 1
    assert set(met) == set(MOTIONS)


def _open(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def _covered(frame: np.ndarray, colour: np.ndarray) -> np.ndarray:
    """How much of each pixel the thing covers: 0 is the background, 1 its colour."""
    way = colour - frame[0, 0]
    return (frame - frame[0, 0]) @ way / (way @ way)


def _border(plane: np.ndarray) -> np.ndarray:
    return np.concatenate([plane[0], plane[-1], plane[:, 0], plane[:, -1]])
