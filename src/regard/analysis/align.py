"""Pairs → where a run looks while it writes the given targets, word by word → links."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from regard.analysis.aer import SHIFTS, Measures, count, measure, shifted
from regard.analysis.linking import Linker
from regard.analysis.symmetrize import SYMMETRIES
from regard.analysis.words import Weights, merge
from regard.answering import Answerer
from regard.data.links import Link, Links
from regard.data.readers import Example
from regard.data.words import Word, natural_level, words
from regard.errors import DataError, UsageError
from regard.pictures.panel import Panel
from regard.prediction import Prediction
from regard.tasks.codec import feature_symbols


class Looked(NamedTuple):
    """A pair as a run reads it: its words, and the weights among them."""

    source: list[str]
    target: list[str]
    weights: Weights  # (T, S)
    backward: Weights | None = None  # (S, T)  of a run that writes the source when it reads the target


def read_pairs(run: Answerer, path: str) -> list[Example]:
    """All pairs of a file, or an error: a line of links is wanted for every one of them."""
    data = dataclasses.replace(run.recipe.data, lowercase=False)  # each run lower-cases for itself if it wants to
    reading = run.task.read(path, dataclasses.replace(run.recipe, data=data), True)
    if reading.skipped:
        raise DataError(reading.skipped[0])
    examples: list[Example] = reading.examples
    return examples


def look(
    run: Answerer, examples: Sequence[Example], level: str | None = None, reverse: Answerer | None = None
) -> list[Looked]:
    """Forced decoding of the pairs; `reverse` decodes them the other way round."""
    run.check_writes()
    if run.answers_nothing:
        raise UsageError(
            f"{run.path} reads no source (task {run.recipe.task}): there is nothing to align its words with"
        )
    level = level or natural_level(run.codec.source, run.codec.target)
    there = _read(run, examples, level)
    if reverse is None:
        return there
    turned = [dataclasses.replace(one, source=one.target, target=one.source, features="") for one in examples]
    back = _read(reverse, turned, level)
    for example, one, other in zip(examples, there, back, strict=True):
        if one.weights.shape != other.weights.shape[::-1]:
            raise UsageError(
                f"{example.place}: {run.path} cuts it into {len(one.source)} and {len(one.target)} {level}, "
                f"{reverse.path} into {len(other.target)} and {len(other.source)}; try --level words, or a reverse run "
                "that was trained with target and source in each other's place"
            )
    return [one._replace(backward=other.weights) for one, other in zip(there, back, strict=True)]


def _read(run: Answerer, examples: Sequence[Example], level: str) -> list[Looked]:
    return [
        _merged(run, example, prediction, level)
        for example, prediction in zip(examples, run.force_examples(examples), strict=True)
    ]


def _merged(run: Answerer, example: Example, prediction: Prediction, level: str) -> Looked:
    if prediction.attention is None:
        raise UsageError(f"{run.path} has no attention to align by: train with model.attention=soft or monotonic")
    features = len(feature_symbols(example.features)) if run.codec.features else 0
    source = words(run.codec.source, prediction.source_tokens, level, features)
    target = words(run.codec.target, prediction.output_tokens, level)
    return Looked(_texts(source), _texts(target), merge(prediction.attention, target, source))


def _texts(found: Sequence[Word]) -> list[str]:
    return [word.text for word in found]


def link(looked: Looked, linker: Linker, symmetry: str = "intersect", shift: int = 0) -> frozenset[Link]:
    """The links of a pair, of both directions where there are two; each is shifted along what it writes."""
    forward = linker(shifted(looked.weights, shift))
    if looked.backward is None:
        return forward
    backward = linker(shifted(looked.backward, shift))
    return SYMMETRIES[symmetry](forward, frozenset(Link(j, t) for t, j in backward))


def measure_shifts(
    pairs: Sequence[Looked], gold: Sequence[Links], linker: Linker, symmetry: str = "intersect"
) -> dict[int, Measures]:
    """All measures, of the rows as they are and of rows held against their neighbours' links."""
    return {
        shift: measure(
            [
                count(shifted(one.weights, shift), link(one, linker, symmetry, shift), links)
                for one, links in zip(pairs, gold, strict=True)
            ]
        )
        for shift in SHIFTS
    }


def draw(looked: Looked, outlined: frozenset[Link], title: str) -> Panel:
    """The weights as a picture, with the cells of somebody else's links outlined."""
    marked = frozenset((link.target, link.source) for link in outlined)
    return Panel(looked.weights, looked.target, looked.source, title, marked)
