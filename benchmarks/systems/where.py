"""Where runs look, measured on the given answers (forced decoding), so that runs with other mistakes can be compared.

spread    how far the weights of a step lie from their middle, in cells: √(Σ_j α_j ‖p_j − p̄‖²), mean over all steps
inside    share of a word's weight on the frames in which it is spoken, mean over all words; beside it what weights
          would have that are the same for all frames
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from regard.prediction import Prediction
from regard.run import Run, load

FRAMES = 75  # of every clip of GRID
SILENT = ("sil", "sp")  # what GRID's alignments call pauses


def spread(folder: Path, table: Path) -> dict[str, float]:
    found = [far for one in _forced(load(folder, device="cpu"), table) for far in _spreads(one)]
    return {"spread in cells": float(np.mean(found))}


def _spreads(prediction: Prediction) -> Iterator[float]:
    assert prediction.attention is not None
    places = np.array([[int(part) for part in name.split(":")] for name in prediction.source_tokens])  # (S, 2)
    for weights in prediction.attention:
        middle = weights @ places
        yield math.sqrt(weights @ ((places - middle) ** 2).sum(1))


def inside(folder: Path, table: Path) -> dict[str, float]:
    run = load(folder, device="cpu")
    seen = run.codec.eye.view.chosen(FRAMES)
    shares, even = [], []
    spoken = [line.split("\t")[2] for line in table.read_text("utf-8").splitlines()]
    for prediction, told in zip(_forced(run, table), spoken, strict=True):
        frames = [_frames(one) for one in told.split() if not one.startswith(SILENT)]
        assert prediction.attention is not None
        for weights, spoken_in in zip(prediction.attention, frames, strict=True):
            among = np.array([frame in spoken_in for frame in seen])  # (S,)
            shares.append(weights[among].sum())
            even.append(among.mean())
    return {"mass inside": 100 * float(np.mean(shares)), "of even weights": 100 * float(np.mean(even))}


def _frames(told: str) -> range:
    """word:first-last; last is the first frame of the next word"""
    first, _, last = told.rpartition(":")[2].partition("-")
    return range(int(first), int(last))


def _forced(run: Run, table: Path) -> list[Prediction]:
    return run.force_examples(run.task.read(str(table), run.recipe).examples)
