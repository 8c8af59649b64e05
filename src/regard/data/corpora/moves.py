"""Clips of one coloured shape that moves, grows or shrinks, with a sentence and a class."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from regard.data.corpora.canvas import THINGS, Placed, Thing, chance, gif, paint
from regard.data.corpora.split import Row
from regard.data.corpora.write import Files

SIZE = 48  # pixels
FRAMES = 8


class Motion(NamedTuple):
    """How a thing changes from the first frame to the last."""

    verb: str
    x: int = 0
    y: int = 0
    radius: int = 0


MOTIONS = {
    "left": Motion("moves left", x=-1),
    "right": Motion("moves right", x=1),
    "up": Motion("moves up", y=-1),
    "down": Motion("moves down", y=1),
    "grows": Motion("grows", radius=1),
    "shrinks": Motion("shrinks", radius=-1),
}


class Clip(NamedTuple):
    number: int
    thing: Thing
    motion: str  # of MOTIONS

    @property
    def path(self) -> str:
        return f"clips/{self.number:05}.gif"


def clips(count: int, seed: int) -> Iterator[Clip]:
    for number in range(count):
        rng = chance(seed, "clip", number)
        yield Clip(number, THINGS[rng.integers(len(THINGS))], list(MOTIONS)[rng.integers(len(MOTIONS))])


def sentence(clip: Clip) -> str:
    return f"a {clip.thing} {MOTIONS[clip.motion].verb}"


def rows(count: int, seed: int) -> Iterator[Row]:
    for clip in clips(count, seed):
        yield Row(sentence(clip), clip.path, sentence(clip), features=clip.motion)


def pictures(count: int, seed: int) -> Files:
    for clip in clips(count, seed):
        rng = chance(seed, "frames", clip.number)
        grey = int(rng.integers(200, 256))
        yield clip.path, gif([paint(SIZE, grey, [placed]) for placed in path_of(clip, rng)])


def path_of(clip: Clip, rng: np.random.Generator) -> list[Placed]:
    """Half the way on either side of a place near the middle, in equal steps."""
    motion = MOTIONS[clip.motion]
    x, y = 0.5 + rng.uniform(-0.1, 0.1, size=2)
    far, radius = rng.uniform(0.12, 0.22), rng.uniform(0.14, 0.18)
    return [
        Placed(clip.thing, x + motion.x * step, y + motion.y * step, radius + motion.radius * step / 3)
        for step in np.linspace(-far, far, FRAMES).tolist()
    ]
