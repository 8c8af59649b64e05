"""Captions and answers are true of the pixels."""

import io
from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from regard.data.corpora.canvas import COLOURS, FINER, SHAPES, THINGS, Placed, Thing, paint
from regard.data.corpora.shapes import SIZE, Scene, caption, pictures, questions, scenes

Pixels = NDArray[np.int64]


def pixels(content: bytes) -> Pixels:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), dtype=np.int64)


def seen(picture: Pixels, colour: str) -> NDArray[np.bool_]:
    return (picture == np.array(COLOURS[colour])).all(-1)


def middle(where: NDArray[np.bool_]) -> tuple[float, float]:
    return tuple(np.argwhere(where).mean(0))  # row, column


def things(text: str) -> list[Thing]:
    words = text.replace("left of", "left").split()
    return [Thing(colour, shape) for colour, shape in pairwise(words) if shape in SHAPES]


def test_captions_are_true_of_the_pictures() -> None:
    checked: Counter[str] = Counter()
    for scene, (path, content) in zip(scenes(200, 0), pictures(200, 0), strict=True):
        picture = pixels(content)
        assert (path, picture.shape) == (scene.path, (SIZE, SIZE, 3))
        named = things(caption(scene))
        assert {colour for colour in COLOURS if seen(picture, colour).any()} == {thing.colour for thing in named}
        if len({thing.colour for thing in named}) < len(named):
            continue
        (top, left), *others = [middle(seen(picture, thing.colour)) for thing in named]
        checked[scene.layout] += 1
        if scene.layout in ("above", "over"):
            assert all(top < row for row, _ in others)
        if scene.layout == "left of":
            assert all(left < column for _, column in others)
        if scene.layout == "over":
            assert others[0][1] < others[1][1]  # "a and b" is from left to right
    assert min(checked[layout] for layout in ("", "above", "left of", "over")) > 10


def test_captions_by_hand() -> None:
    red, blue, star = Thing("red", "circle"), Thing("blue", "square"), Thing("green", "star")
    assert caption(Scene(0, "", (red,))) == "a red circle"
    assert caption(Scene(0, "above", (red, blue))) == "a red circle above a blue square"
    assert caption(Scene(0, "left of", (star, blue))) == "a green star left of a blue square"
    assert caption(Scene(0, "over", (star, blue, red))) == "a green star above a blue square and a red circle"


def test_questions_by_hand() -> None:
    pair = Scene(0, "above", (Thing("red", "circle"), Thing("red", "square")))
    asked = dict(questions(pair, 0))
    assert asked.pop("what colour is the circle") == "red"
    assert asked.pop("what colour is the square") == "red"
    assert asked.pop("what is above the square") == "circle"
    assert asked.pop("how many shapes are there") == "two"
    assert sorted(asked.values()) == ["no", "yes"]  # nobody asks which shape is red: both are


def test_answers_are_true_and_no_question_has_two() -> None:
    for scene in scenes(300, 0):
        asked = list(questions(scene, 0))
        assert len({question for question, _ in asked}) == len(asked)
        for question, answer in asked:
            *_, last = question.split()
            if question.startswith("what colour"):
                assert {thing.colour for thing in scene.things if thing.shape == last} == {answer}
            if question.startswith("which shape"):
                assert {thing.shape for thing in scene.things if thing.colour == last} == {answer}
            if question.startswith("is there"):
                assert (Thing(*question.split()[-2:]) in scene.things) is (answer == "yes")


def test_no_two_things_of_a_scene_are_the_same() -> None:
    assert all(len(set(scene.things)) == len(scene.things) for scene in scenes(500, 0))
    assert {thing for scene in scenes(500, 0) for thing in scene.things} == set(THINGS)


def test_shapes_have_the_areas_that_geometry_says() -> None:
    size, radius = 200, 0.4
    for shape, area in {"circle": np.pi, "square": 2.0, "triangle": 3 * 3**0.5 / 4}.items():
        picture = np.asarray(paint(size, 255, [Placed(Thing("red", shape), 0.5, 0.5, radius)]), dtype=float)
        inside = (255 - picture[..., 2]) / (255 - COLOURS["red"][2])
        assert abs(inside.sum() / (area * (radius * size) ** 2) - 1) < 0.03, shape
    assert FINER > 1
