"""Drawn pictures and clips, and small runs that look at them."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard import Run
from regard.data.readers import Example
from regard.recipe import Choose, Data, Look, Model, Recipe, Search, Side
from regard.run import load
from regard.tasks import get_task
from tests import tiny
from tests.command import done, write
from tests.data.made import Pixels, save, url

COLOURS = {"red": (220, 30, 30), "green": (30, 160, 30), "blue": (30, 30, 220)}
SIZE = 16  # pixels of a side; a cell has 4 × 4
SIZES = {"embed": 8, "hidden": 16, "readout": 8, "compare": 8, "dropout": 0.0}


def square(colour: str, left: int, top: int, width: int = SIZE, height: int = SIZE) -> Pixels:
    """A coloured square of 8 × 8 pixels on white paper."""
    pixels = np.full((height, width, 3), 255, dtype=np.uint8)
    pixels[top : top + 8, left : left + 8] = COLOURS[colour]
    return pixels


RED = url(square("red", 8, 0))
BLUE = url(square("blue", 0, 8))


def trained(folder: Path) -> Run:
    """Made through the command, as anybody would: a picture → a red square."""
    rows = []
    for colour in COLOURS:
        for left, top in ((0, 0), (8, 0), (0, 8), (8, 8)):
            name = f"{colour}-{left}-{top}.png"
            save(folder / name, square(colour, left, top))
            rows.append((name, f"a {colour} square"))
    table = write(folder / "squares.tsv", rows)
    how = ("--task", "caption", "--recipe", "tiny-look", "--dev", table, "--epochs", 8, "--device", "cpu", "--quiet")
    small = [f"look.size={SIZE}", "training.batch_size=4", "training.learning_rate=0.01"]
    done("train", table, "--out", folder / "run", *how, *(part for one in small for part in ("--set", one)))
    return load(folder / "run")


def untrained(task: str, *targets: str, features: str = "", **look: Any) -> Run:
    """A run of random weights that knows these targets."""
    torch.manual_seed(1)
    seen = Look(encoder="small", stages=(4, 8), size=SIZE, **look)
    data = Data(features_column=3 if features else None)
    words = Side(symbols="words", least=1)
    recipe = Recipe(
        task, data=data, source=words, target=words, model=Model(**SIZES), search=Search(beam=2), look=seen,
        choose=Choose(of="picture", size=8),
    )  # fmt: skip
    found: Any = get_task(task)
    codec = found.codec([Example("", target, features) for target in targets], recipe)
    return Run(Path(task), recipe, codec, [found.build(codec, recipe).eval()])


def reads() -> Run:
    """A run of random weights that reads texts."""
    return Run(Path("texts"), Recipe(model=Model(**tiny.SIZES)), tiny.CODEC, [tiny.model().float()])
