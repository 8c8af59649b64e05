"""Passage + question with a blank → the word of the passage that is missing, by attention over attention
(Cui et al. 2016)."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from regard.attention.over import Over
from regard.data.places import Token
from regard.data.readers import Example, Reading
from regard.decoders.reader import ClozeReader
from regard.metrics import Measured, accuracy
from regard.model import initialise
from regard.prediction import Look, Prediction
from regard.recipe import Recipe
from regard.tasks.checking import readers
from regard.tasks.pointing import (
    SECTIONS,
    Asked,
    Question,
    ask,
    batch,
    check_attention,
    encode_questions,
    loss,
    point,
    read_questions,
    shared_reader,
)
from regard.tasks.questions import PointingCodec
from regard.tasks.request import Request
from regard.unused import within

METRIC = "accuracy"  # what early stopping watches
BESIDE = "question"
CODEC = PointingCodec
UNUSED = readers(
    *("fill", "attention"),
    also=(
        *("training.smoothing", "data.where_column", "model.variational"),
        *within("point", "rounds", "pieces", "longest_span"),
    ),
)
LEAST = 1e-30  # of a probability, so that its logarithm is a number


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    """Passage, missing word, and question with a blank."""
    return read_questions(path, recipe, skip_bad_lines, recipe.point.blank)


def codec(examples: Sequence[Example], recipe: Recipe) -> PointingCodec:
    return PointingCodec.learn(examples, recipe, recipe.point.blank)


def encode(codec: PointingCodec, examples: Sequence[Example]) -> list[Asked]:
    return encode_questions(codec, examples, _places)


def _places(codec: PointingCodec, example: Example, tokens: Sequence[Token]) -> Sequence[int]:
    """All places of the missing word that are read, whatever its case."""
    wanted = example.target.lower()
    return [place for place, token in enumerate(tokens[: codec.longest]) if token.text.lower() == wanted]


def build(codec: PointingCodec, recipe: Recipe) -> ClozeReader:
    check_attention(recipe, "soft")
    model = ClozeReader(shared_reader(codec, recipe.model), recipe.model.dropout)
    initialise(model)
    return model


@torch.inference_mode()
def answer(
    models: Sequence[ClozeReader],
    codec: PointingCodec,
    examples: Sequence[Example],
    request: Request,
    numbers: Sequence[int],
) -> list[Prediction]:
    """The likeliest words; several models vote by the mean of their probabilities."""
    asked, tensors = ask(codec, examples, next(models[0].parameters()).device)
    found = [model(tensors.passage, tensors.question) for model in models]
    over = Over(*(torch.stack(several).mean(0).float().cpu() for several in zip(*found, strict=True)))
    return [_answer(one, over, row, request) for row, one in enumerate(asked)]


def _answer(asked: Question, over: Over, row: int, request: Request) -> Prediction:
    rows, columns = len(asked.question), len(asked.tokens)
    weights, importance = over.weights[row, :rows, :columns].numpy(), over.importance[row, None, :rows].numpy()
    places, tokens = over.places[row, :columns].numpy(), [token.text for token in asked.tokens]
    looks = [
        Look("what each word of the question counts", importance, ["β"], asked.question, ("", "question")),
        Look("what each place of the passage gets", places[None], ["s"], tokens, ("", "passage")),
    ]
    best = rank_words(tokens, places)[: max(request.nbest, 1)]
    several = [
        point(asked, word.place, word.place, math.log(max(word.mass, LEAST)), weights.copy(), looks) for word in best
    ]
    return replace(several[0], nbest=several if request.nbest else [])


class Word(NamedTuple):
    mass: float  # P(w) = Σ s over its places
    place: int  # the heaviest of them


def rank_words(tokens: Sequence[str], places: NDArray[np.float32]) -> list[Word]:
    """The different words of a passage, likeliest first, whatever their case; of equals, the one that comes first.

    What has neither letter nor digit is no word; where there is nothing else, it is ranked all the same.
    """
    stands: dict[str, list[int]] = defaultdict(list)
    words_at = [place for place, token in enumerate(tokens) if any(map(str.isalnum, token))]
    for place in words_at or range(len(tokens)):
        stands[tokens[place].lower()].append(place)
    words = [
        Word(float(sum(places[at] for at in found)), max(found, key=places.__getitem__)) for found in stands.values()
    ]
    return sorted(words, key=lambda word: -word.mass)


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """accuracy: share of right words, whatever their case"""
    right = accuracy([one.lower() for one in outputs], [[one.lower() for one in many] for many in references])
    return Measured({"accuracy": right}, {})
