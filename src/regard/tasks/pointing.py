"""What the tasks that point into a passage share: passage and question as numbers, and answers cut out of the text.

An answer is always `source[begin:end]`, as it was written. Of a passage longer than data.longest only so much is read,
and an answer says how much was left out; in training, a question whose answer is not in what is read is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.data.batching import Padded, pad
from regard.data.places import Token
from regard.data.readers import Columns, Example, Reading, read_pairs
from regard.decoders.reader import NOWHERE
from regard.encoders.recurrent import TextEncoder
from regard.errors import UsageError
from regard.losses import Loss
from regard.prediction import Look, Prediction, Span
from regard.recipe import Model, Recipe
from regard.tasks.parts import make_reader
from regard.tasks.questions import PointingCodec, texts, trouble

SECTIONS = ("data", "source", "model", "training", "point")


class Asked(NamedTuple):
    """One passage and question as numbers."""

    passage: list[int]
    question: list[int]
    places: tuple[int, ...]  # of the answer: first and last, or all of a word's; none: it is not in what is read

    @property
    def length(self) -> int:
        return max(len(self.passage), len(self.question))

    @property
    def width(self) -> int:
        return len(self.passage) + len(self.question)

    @property
    def order(self) -> tuple[int, ...]:
        return len(self.passage), len(self.question)

    @property
    def counted(self) -> int:
        return 1 if self.places else 0


class AskedBatch(NamedTuple):
    passage: Padded
    question: Padded
    places: Tensor  # (B, K)  NOWHERE where there is none
    numbers: list[int]

    def to(self, device: torch.device) -> "AskedBatch":
        return AskedBatch(self.passage.to(device), self.question.to(device), self.places.to(device), self.numbers)


Places = Callable[[PointingCodec, Example, Sequence[Token]], Sequence[int]]  # of the answer among these tokens


def read_questions(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool, blank: str) -> Reading:
    """The rows of a file; one whose question cannot be asked is a bad line."""
    data = recipe.data
    if data.features_column is None:
        raise UsageError("data.features_column is null, but here it is the column of the question: name it")
    named = data.source_column, data.target_column, data.features_column
    columns = Columns(*named, where=data.where_column, needs_where=False)  # to measure, it is not needed
    reading = read_pairs(path, columns, skip_bad_lines=skip_bad_lines)
    return reading.sound(lambda one: trouble(one, blank), skip_bad_lines)


def encode_questions(codec: PointingCodec, examples: Sequence[Example], places: Places) -> list[Asked]:
    asked = []
    for example in examples:
        tokens, question = codec.tokens(example.source), codec.question(example)
        found = tuple(places(codec, example, tokens))
        read = codec.encode(texts(tokens[: codec.longest])), codec.encode(question[: codec.longest])
        asked.append(Asked(*read, found if all(place < codec.longest for place in found) else ()))
    return asked


def batch(encodings: Sequence[Asked], numbers: list[int]) -> AskedBatch:
    chosen = [encodings[number] for number in numbers]
    most = max(2, *(len(one.places) for one in chosen))
    places = [[*one.places, *[NOWHERE] * (most - len(one.places))] for one in chosen]  # (B, K)
    return AskedBatch(
        pad([one.passage for one in chosen]), pad([one.question for one in chosen]), torch.tensor(places), numbers
    )


def loss(model: Any, batch: AskedBatch, smoothing: float = 0.0, own: float = 0.0) -> Loss:
    """−Σ log p of where the answers stand; the model knows what it points with."""
    told: Loss = model(batch.passage, batch.question, batch.places)
    return told


class Question(NamedTuple):
    """A passage and what is asked of it, on the way to an answer."""

    example: Example
    tokens: list[Token]  # as many as are read
    question: list[str]
    unknown: list[str]
    left_out: int


def ask(codec: PointingCodec, examples: Sequence[Example], device: torch.device) -> tuple[list[Question], AskedBatch]:
    asked = [_question(codec, example) for example in examples]
    numbers = [Asked(codec.encode(texts(one.tokens)), codec.encode(one.question), ()) for one in asked]
    return asked, batch(numbers, list(range(len(asked)))).to(device)


def _question(codec: PointingCodec, example: Example) -> Question:
    tokens, question = codec.tokens(example.source), codec.question(example)
    most = codec.longest
    left_out = max(len(tokens) - most, 0) + max(len(question) - most, 0)
    tokens, question = tokens[:most], question[:most]
    unknown = codec.vocabulary.unknown(codec.folded([*texts(tokens), *question]))
    return Question(example, tokens, question, unknown, left_out)


def point(asked: Question, first: int, last: int, log_prob: float, attention: Any, looks: Sequence[Look]) -> Prediction:
    """The answer that stands on these tokens of the passage, cut out of the text."""
    span = Span(asked.tokens[first].begin, asked.tokens[last].end)
    return Prediction(
        asked.example.source,
        asked.example.source[span.begin : span.end],
        log_prob,
        log_prob,
        texts(asked.tokens),
        texts(asked.tokens[first : last + 1]),
        attention,
        unknown=asked.unknown,
        span=span,
        attention_rows=asked.question,
        looks=looks,
        left_out=asked.left_out,
        axes=("question", "passage"),
    )


def shared_reader(codec: PointingCodec, options: Model) -> TextEncoder:
    """What reads passages and questions, over one table of words.

    Dropout comes after the two have been compared: before, the same word would look different in the two texts.
    """
    return make_reader(len(codec.vocabulary), replace(options, dropout=0.0))


def check_attention(recipe: Recipe, *known: str) -> None:
    """What a reader does between passage and question has a name of its own in each task."""
    if recipe.model.attention not in known:
        raise UsageError(f"model.attention={recipe.model.attention} is not for {recipe.task}: {' or '.join(known)} is")
