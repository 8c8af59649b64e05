"""Passage + question → the span of the passage that answers it, by dynamic coattention (Xiong et al. 2016)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.attention.coattention import Coattention
from regard.data.places import Token, cover_span, find_span
from regard.data.readers import Example, Reading
from regard.decoders.reader import Pointed, SpanReader
from regard.decoders.span import DynamicPointer, PlainPointer, Rounds, best_spans
from regard.encoders.passage import CoattentionReader, PlainReader
from regard.errors import DataError, UsageError
from regard.metrics import Measured, exact_match, word_f1
from regard.model import initialise
from regard.prediction import Look, Prediction
from regard.recipe import Recipe
from regard.tasks.checking import readers
from regard.tasks.parts import make_layers
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
from regard.unused import Unused, within

METRIC = "f1"  # what early stopping watches
BESIDE = "question"
CODEC = PointingCodec
UNUSED: Unused = {
    **readers("read", "attention", "readout", also=("training.smoothing", "point.blank")),
    ("model.attention", "none"): within("point", "rounds", "pieces"),
}


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    """Passage, answer and question, and perhaps the character where the answer begins."""
    return read_questions(path, recipe, skip_bad_lines, blank="").sound(_misplaced, skip_bad_lines)


def _misplaced(example: Example) -> str:
    try:
        _begin(example)
    except ValueError as error:
        return str(error)
    return ""


def codec(examples: Sequence[Example], recipe: Recipe) -> PointingCodec:
    column = recipe.data.where_column
    if column is not None and not any(example.where for example in examples):
        raise UsageError(f"data.where_column={column}: no row says where its answer begins; name the column, or null")
    return PointingCodec.learn(examples, recipe)


def encode(codec: PointingCodec, examples: Sequence[Example]) -> list[Asked]:
    return encode_questions(codec, examples, _span)


def _span(codec: PointingCodec, example: Example, tokens: Sequence[Token]) -> Sequence[int]:
    """First and last token of the answer: where it is said to begin, if it stands there; else where its words follow
    each other nearest to that, or first; nothing, if they do so nowhere."""
    try:
        begin = _begin(example)
    except ValueError as error:
        raise DataError(f"{example.place}: {error}") from error
    there = example.source[begin : begin + len(example.target)] if begin >= 0 else ""
    if there and there.lower() == example.target.lower():
        return cover_span(tokens, begin, begin + len(there)) or ()
    wanted = [token.text.lower() for token in codec.tokens(example.target)]
    return find_span(tokens, wanted, near=max(begin, 0)) or ()


def _begin(example: Example) -> int:
    """The character where the answer begins; −1 if that is not known."""
    try:
        return int(example.where or -1)
    except ValueError:
        raise ValueError(
            f"the answer is said to begin at {example.where!r:.40}; expected the number of a character, from 0, "
            "or nothing"
        ) from None


def build(codec: PointingCodec, recipe: Recipe) -> SpanReader:
    """With attention the dynamic coattention network; without, the question's last state beside every place."""
    check_attention(recipe, "soft", "none")
    options, how = recipe.model, recipe.point
    encoder = shared_reader(codec, options)
    above = replace(options, encoder_layers=1, bidirectional=True)
    if options.attention == "none":
        plain = PlainReader(encoder, make_layers(2 * encoder.size, above))
        model = SpanReader(plain, PlainPointer(plain.size), how.longest_span)
    else:
        fusion = make_layers(3 * encoder.size, above)
        reader = CoattentionReader(encoder, Coattention(encoder.size), fusion)
        pointer = DynamicPointer(reader.size, options.hidden, options.readout, how.pieces, how.rounds)
        model = SpanReader(reader, pointer, how.longest_span)
    initialise(model)
    return model


@torch.inference_mode()
def answer(
    models: Sequence[SpanReader],
    codec: PointingCodec,
    examples: Sequence[Example],
    request: Request,
    numbers: Sequence[int],
) -> list[Prediction]:
    """The likeliest spans; several models vote by the mean of their probabilities."""
    asked, tensors = ask(codec, examples, next(models[0].parameters()).device)
    pointed = [model(tensors.passage, tensors.question) for model in models]
    start, end = (_together(ends) for ends in zip(*(one.rounds.last() for one in pointed), strict=True))
    found = best_spans(start, end, models[0].longest, max(request.nbest, 1))
    answers = []
    for row, (one, spans) in enumerate(zip(asked, found, strict=True)):
        seen = _attention(pointed, row, one), _looks(pointed[0].rounds, row, one)
        several = [point(one, span.start, span.end, span.log_prob, *seen) for span in spans]
        answers.append(replace(several[0], nbest=several if request.nbest else []))
    return answers


def _together(several: Sequence[Tensor]) -> Tensor:
    """log of the mean of several p (B, M), given as logarithms"""
    stacked = torch.stack(list(several))  # (models, B, M)
    return stacked.logsumexp(0) - float(np.log(len(stacked)))


def _attention(pointed: Sequence[Pointed], row: int, asked: Question) -> Any:
    """Where each word of the question looked (N, M), the mean of models; what a row lacks to 1 is the sentinel's."""
    seen = [one.weights[row, : len(asked.question), : len(asked.tokens)] for one in pointed if one.weights is not None]
    return torch.stack(seen).mean(0).float().cpu().numpy() if seen else None


def _looks(rounds: Rounds, row: int, asked: Question) -> list[Look]:
    """Where the answer begins and ends, as it was thought in each round."""
    count, columns = int(rounds.live[row].sum()), [token.text for token in asked.tokens]
    names = [f"round {number}" for number in range(1, count + 1)]
    weights = [one[row, :count, : len(columns)].exp().float().cpu().numpy() for one in (rounds.start, rounds.end)]
    axes = ("", "passage")
    return [Look(name, one, names, columns, axes) for name, one in zip(("start", "end"), weights, strict=True)]


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """em: share of answers that equal a reference;  f1: words shared with the nearest one; both as SQuAD counts"""
    return Measured({"em": exact_match(outputs, references), "f1": word_f1(outputs, references)}, {})
