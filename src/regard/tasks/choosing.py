"""What the tasks that choose a class share: all of a task's functions but `build`, which puts its reader together.

A text is read as one flat sequence; where sentences are told apart, SEPARATOR stands between them. A pair has a second
text, in `Example.features`.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batching import Padded, join, pad
from regard.data.readers import Columns, Example, Reading, read_pairs
from regard.data.sentences import SEPARATOR
from regard.decoders.choice import Chooser, Chosen, Label, Seen
from regard.losses import Loss
from regard.metrics import Measured, accuracy, macro_f1
from regard.prediction import Look, Prediction
from regard.recipe import Recipe
from regard.tasks.choices import Chooses, Codec, Symbols, all_labels
from regard.tasks.request import Request

METRIC = "accuracy"  # what early stopping watches
SECTIONS = ("data", "source", "model", "training", "choose")
logger = logging.getLogger("regard")


class Choosing(NamedTuple):
    """One example as numbers."""

    source: Any  # numbers of symbols, or another source (batching.Joins) with a length
    beside: list[int]
    label: int  # −1: none of the classes seen in training
    said: tuple[int, ...] = ()  # words that are said of the source, for models that name what they see

    @property
    def length(self) -> int:
        return len(self.source) + len(self.beside)

    @property
    def width(self) -> int:
        return len(self.source) + len(self.beside)

    @property
    def order(self) -> tuple[int, ...]:
        return len(self.source), len(self.beside)

    @property
    def counted(self) -> int:
        return int(self.label >= 0)


class Batch(NamedTuple):
    """What a training step reads."""

    source: Any  # Tensors: Padded, where it is symbols
    beside: Padded | None
    labels: Tensor  # (B,)
    numbers: list[int]
    said: Padded | None = None

    def to(self, device: torch.device) -> "Batch":
        beside, said = (None if one is None else one.to(device) for one in (self.beside, self.said))
        return Batch(self.source.to(device), beside, self.labels.to(device), self.numbers, said)


def read(path: str | Sequence[str], recipe: Recipe, skip_bad_lines: bool = False) -> Reading:
    data = recipe.data
    columns = Columns(data.source_column, data.target_column, data.features_column)
    return read_pairs(path, columns, skip_bad_lines=skip_bad_lines)


def codec(examples: Sequence[Example], recipe: Recipe) -> Codec:
    data = recipe.data
    return Codec.learn(
        examples,
        recipe.source,
        all_labels(examples),
        features=data.features_column is not None,
        lowers=data.lowercase,
        longest=data.longest,
        sentences=recipe.choose.levels == 2,
    )


def encode(codec: Chooses, examples: Sequence[Example]) -> list[Choosing]:
    """Says how many texts are read only in part, and how many have a label that cannot be chosen."""
    numbers = {label: number for number, label in enumerate(codec.labels)}
    texts = [codec.symbols(example) for example in examples]
    long = sum(text.left_out > 0 for text in texts)
    if long:
        share, most = 100 * long / len(texts), codec.longest
        logger.warning("%d of %d texts (%.1f %%) are read up to data.longest=%d symbols", long, len(texts), share, most)
    foreign = [example for example in examples if example.target not in numbers]
    if foreign:
        first = f"{foreign[0].target!r} ({foreign[0].place})"
        logger.warning("%d examples have a label never seen in training and count as wrong: %s", len(foreign), first)
    return [
        Choosing(*codec.numbers(one, text), numbers.get(one.target, -1))
        for text, one in zip(texts, examples, strict=True)
    ]


def batch(encodings: Sequence[Choosing], numbers: list[int]) -> Batch:
    chosen = [encodings[number] for number in numbers]
    beside = pad([one.beside for one in chosen]) if chosen[0].beside else None
    labels = torch.tensor([one.label for one in chosen])
    said = pad([one.said for one in chosen]) if any(one.said for one in chosen) else None
    return Batch(join([one.source for one in chosen]), beside, labels, numbers, said)


def loss(model: Chooser, batch: Batch, smoothing: float = 0.0, own: float = 0.0) -> Loss:
    """−Σ log p(y | x), and what else the model makes small"""
    told: Loss = model(batch.source, batch.beside, Label(batch.labels, smoothing, batch.said))
    return told


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """accuracy: right choices;  macro_f1: the mean of the classes' F1, in which rare classes count as much"""
    return Measured({"accuracy": accuracy(outputs, references), "macro_f1": macro_f1(outputs, references)}, {})


# -- answers ---------------------------------------------------------------------------------------------------


class Opinion(NamedTuple):
    """What all models together say about a batch."""

    log_probs: NDArray[np.float64]  # (B, N)
    chosen: Chosen  # with the weights of all


@torch.inference_mode()
def answer(
    models: Sequence[Chooser], codec: Chooses, examples: Sequence[Example], request: Request, numbers: Sequence[int]
) -> list[Prediction]:
    """The likeliest class of each text; several models vote (an ensemble)."""
    texts = [codec.symbols(example) for example in examples]
    pairs = zip(examples, texts, strict=True)
    encoded = batch([Choosing(*codec.numbers(*pair), -1) for pair in pairs], list(range(len(texts))))
    encoded = encoded.to(next(models[0].parameters()).device)
    opinion = _together([model(encoded.source, encoded.beside) for model in models])
    return [
        _prediction(codec, example, text, opinion, row, request.nbest)
        for row, (example, text) in enumerate(zip(examples, texts, strict=True))
    ]


def _together(several: Sequence[Chosen]) -> Opinion:
    """The mean of the probabilities, and of the weights of those that look at the same as the first."""
    log_probs = torch.stack([one.logits.double().log_softmax(-1) for one in several])  # (M, B, N)
    alike = [one for one in several if _looks(one) == _looks(several[0])]
    seen = tuple(
        looks[0]._replace(weights=torch.stack([look.weights for look in looks]).mean(0))
        for looks in zip(*(one.seen for one in alike), strict=True)
    )
    lines = several[0].lines
    if lines is not None:
        weights = [one.lines.weights for one in alike if one.lines is not None]
        lines = lines._replace(weights=torch.stack(weights).mean(0))
    mean = log_probs.logsumexp(0) - math.log(len(several))  # (B, N)
    return Opinion(mean.cpu().numpy(), several[0]._replace(seen=seen, lines=lines))


def _looks(chosen: Chosen) -> list[object]:
    lines = None if chosen.lines is None else chosen.lines.weights.shape
    return [lines, *((look.name, look.weights.shape) for look in chosen.seen)]


def _prediction(codec: Chooses, example: Example, text: Symbols, opinion: Opinion, row: int, nbest: int) -> Prediction:
    log_probs = opinion.log_probs[row]
    order = [int(number) for number in (-log_probs).argsort(kind="stable")]
    kept = [place for place, symbol in enumerate(text.source) if not (codec.sentences and symbol == SEPARATOR)]
    plain = Prediction(
        example.source,
        output="",
        score=0.0,
        log_probability=0.0,
        source_tokens=[text.source[place] for place in kept],
        output_tokens=[],
        attention=None,
        unknown=codec.unknown(text),
        probabilities={codec.labels[number]: math.exp(log_probs[number]) for number in order},
        left_out=text.left_out,
        **_lines(opinion.chosen, kept, row),
    )

    def one(number: int) -> Prediction:
        label, score = codec.labels[number], float(log_probs[number])
        looks = [_look(look, text, kept, row, label) for look in opinion.chosen.seen]
        first = looks.pop(0) if looks and opinion.chosen.seen[0].columns == "source" else None
        apart = opinion.chosen.penalty is not None  # rows that are to look at different places
        if first and apart and len(first.rows) > 1 and opinion.chosen.seen[0].rows == "choice":
            looks.append(Look("overlap of the rows", first.weights @ first.weights.T, first.rows, first.rows))  # A Aᵀ
        return replace(
            plain,
            output=label,
            score=score,
            log_probability=score,
            output_tokens=[label],
            attention=first.weights if first else None,
            attention_rows=first.rows if first else (),
            axes=first.axes if first and codec.features else None,  # one text is the source
            looks=looks,
        )

    best = replace(one(order[0]), nbest=[one(number) for number in order[:nbest]])
    return codec.shown(example, best)


def _look(look: Seen, text: Symbols, kept: list[int], row: int, label: str) -> Look:
    """One example's weights with their names; separators have none and are not shown."""
    weights = look.weights[row].float().cpu().numpy()  # (R, S)
    count = len(weights)
    names = {"source": [text.source[place] for place in kept], "beside": text.beside}
    names["choice"] = [label] if count == 1 else [str(number) for number in range(1, count + 1)]
    places = {"source": kept, "beside": list(range(len(text.beside))), "choice": list(range(count))}
    shown = weights[np.ix_(places[look.rows], places[look.columns])]
    return Look(look.name, shown, names[look.rows], names[look.columns], look.axes)


def _lines(chosen: Chosen, kept: list[int], row: int) -> dict[str, Any]:
    """Symbols of each sentence, and its weight; a text that only the choice looked at is one line."""
    lines = chosen.lines
    if lines is None:
        return {"lines": [len(kept)]} if [look.rows for look in chosen.seen] == ["choice"] else {}
    counts = np.bincount(lines.line[row].cpu().numpy()[kept]).tolist()
    weights = lines.weights[row].mean(0)[: len(counts)].tolist() if lines.weights.size(1) else []
    return {"lines": counts, "line_weights": weights}
