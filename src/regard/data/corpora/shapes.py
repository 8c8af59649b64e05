"""Pictures of one to three coloured shapes, with captions and with questions: toys to learn from in a minute."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from regard.data.corpora.canvas import SHAPES, THINGS, Placed, Thing, chance, paint, png
from regard.data.corpora.split import Row
from regard.data.corpora.write import Files

SIZE = 64  # pixels
NUMBERS = ("one", "two", "three")

Places = tuple[tuple[float, float], ...]
LAYOUTS: dict[str, Places] = {
    "": ((0.5, 0.5),),
    "above": ((0.5, 0.27), (0.5, 0.73)),
    "left of": ((0.27, 0.5), (0.73, 0.5)),
    "over": ((0.5, 0.27), (0.27, 0.73), (0.73, 0.73)),  # one above two
}


class Scene(NamedTuple):
    number: int
    layout: str  # of LAYOUTS
    things: tuple[Thing, ...]  # no two are the same

    @property
    def path(self) -> str:
        return f"pictures/{self.number:05}.png"


def scenes(count: int, seed: int) -> Iterator[Scene]:
    for number in range(count):
        rng = chance(seed, "scene", number)
        layout = list(LAYOUTS)[rng.integers(len(LAYOUTS))]
        chosen = rng.choice(len(THINGS), size=len(LAYOUTS[layout]), replace=False)
        yield Scene(number, layout, tuple(THINGS[one] for one in chosen))


def caption(scene: Scene) -> str:
    """Every scene has one caption, so that a right one is never counted as wrong."""
    first, *others = (f"a {thing}" for thing in scene.things)
    relation = "above" if scene.layout == "over" else scene.layout
    return f"{first} {relation} {' and '.join(others)}" if others else first


def questions(scene: Scene, seed: int) -> Iterator[tuple[str, str]]:
    """Question, answer: only what has one answer is asked, and of yes and no there is one each."""
    shapes, colours = Counter(one.shape for one in scene.things), Counter(one.colour for one in scene.things)
    for colour, shape in scene.things:
        if shapes[shape] == 1:
            yield f"what colour is the {shape}", colour
        if colours[colour] == 1:
            yield f"which shape is {colour}", shape
    yield "how many shapes are there", NUMBERS[len(scene.things) - 1]
    if len(scene.things) == 2 and len(shapes) == 2:
        first, second = scene.things
        yield f"what is {scene.layout} the {second.shape}", first.shape
    rng = chance(seed, "question", scene.number)
    there = scene.things[rng.integers(len(scene.things))]
    missing = [Thing(there.colour, shape) for shape in SHAPES if Thing(there.colour, shape) not in scene.things]
    yield f"is there a {there}", "yes"
    yield f"is there a {missing[rng.integers(len(missing))]}", "no"


def caption_rows(count: int, seed: int) -> Iterator[Row]:
    for scene in scenes(count, seed):
        yield Row(caption(scene), scene.path, caption(scene))


def question_rows(count: int, seed: int) -> Iterator[Row]:
    """Split like captions: the same pictures are held back."""
    for scene in scenes(count, seed):
        for question, answer in questions(scene, seed):
            yield Row(caption(scene), scene.path, answer, features=question)


def pictures(count: int, seed: int) -> Files:
    for scene in scenes(count, seed):
        rng = chance(seed, "picture", scene.number)
        yield scene.path, png(paint(SIZE, int(rng.integers(200, 256)), place_things(scene, rng)))


def place_things(scene: Scene, rng: np.random.Generator) -> list[Placed]:
    """Somewhere near their places, so that no two pictures are alike, but the relation stays true."""
    alone = 0.25 if len(scene.things) == 1 else 0.06
    near = rng.uniform(-alone, alone, size=(len(scene.things), 2))
    radii = rng.uniform(0.12, 0.17, size=len(scene.things))
    return [
        Placed(thing, x + dx, y + dy, radius)
        for thing, (x, y), (dx, dy), radius in zip(scene.things, LAYOUTS[scene.layout], near, radii, strict=True)
    ]
