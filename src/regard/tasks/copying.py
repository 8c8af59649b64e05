"""What a task that copies adds: the target symbol of each source symbol, and which symbols of an answer were copied."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.batching import pad
from regard.data.vocabulary import BEGIN, END, UNKNOWN
from regard.decoders.copying import CopyingDecoder
from regard.encoders.open import LACKS
from regard.model import EncoderDecoder
from regard.prediction import Prediction
from regard.tasks.codec import Codec

NUMBERS = 1 << 24  # logits of answers that are read again at once: bounds the memory


def held_symbols(codec: Codec) -> list[int]:
    """Source number → target number of the same symbol, or LACKS: what OpenEncoder keeps. What is no text (features,
    borders) counts as UNKNOWN, which no search writes."""
    numbers = {symbol: number for number, symbol in enumerate(codec.target.vocabulary.symbols)}
    return [
        numbers.get(symbol, LACKS) if codec.is_text(symbol) else UNKNOWN for symbol in codec.source.vocabulary.symbols
    ]


def mark_copies(models: Sequence[EncoderDecoder], codec: Codec, answers: Sequence[Prediction]) -> list[Prediction]:
    """The answers, and all of their n-best, with `copied`: where most of p(y_t) comes from copying. For that they are
    read once more, all steps at once, since search keeps no such numbers."""
    every = [one for answer in answers for one in (answer, *answer.nbest)]
    marked = iter(
        [replace(one, copied=copies) for one, copies in zip(every, _copies(models, codec, every), strict=True)]
    )
    return [replace(next(marked), nbest=[next(marked) for _ in answer.nbest]) for answer in answers]


def _copies(
    models: Sequence[EncoderDecoder], codec: Codec, answers: Sequence[Prediction]
) -> Iterator[list[tuple[int, int]]]:
    longest = max((len(one.output_tokens) for one in answers), default=0) + 1
    rows = max(1, NUMBERS // (longest * len(codec.target.vocabulary)))
    for begin in range(0, len(answers), rows):
        some = answers[begin : begin + rows]
        for one, shares in zip(some, _shares(models, codec, some), strict=True):
            yield [(t, _heaviest(one, t)) for t in range(len(one.output_tokens)) if shares[t] > 0.5]


def _shares(models: Sequence[EncoderDecoder], codec: Codec, answers: Sequence[Prediction]) -> NDArray[np.floating]:
    """(1 − g_t) Σ_{j: x_j = y_t} α_tj / p(y_t), (B, T); of several models, the mean above and the mean below"""
    device = next(models[0].parameters()).device
    source = pad([codec.source_numbers(one.source_tokens) for one in answers]).to(device)
    numbers = [codec.target_numbers(one.output_tokens, one.source_tokens) for one in answers]
    tokens = pad([[BEGIN, *one, END] for one in numbers]).data.to(device)  # (B, T + 1)
    told = [
        cast(CopyingDecoder, model.decoder).tell(tokens[:, :-1], model.encode(source), tokens[:, 1:])
        for model in models
    ]
    copied = torch.stack([one.copied for one in told]).logsumexp(0)  # (B, T)
    every = torch.stack([one.log_probs for one in told]).logsumexp(0)  # (B, T)
    shares: NDArray[np.floating] = (copied - every).exp().cpu().numpy()
    return shares


def _heaviest(answer: Prediction, t: int) -> int:
    """The place that holds the t-th symbol and was looked at most."""
    assert answer.attention is not None
    held = [symbol == answer.output_tokens[t] for symbol in answer.source_tokens]
    return int(np.where(held, answer.attention[t], -math.inf).argmax())
