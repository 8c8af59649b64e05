"""What written answers looked at among their own words, for decoders that look back."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from regard.attention.memory import Encoded
from regard.data.batching import pad
from regard.data.vocabulary import BEGIN
from regard.decoders.looking import LooksBack
from regard.model import EncoderDecoder
from regard.prediction import Look, Prediction
from regard.search.tree import pick
from regard.tasks.codec import Writes


def with_looks(
    models: Sequence[EncoderDecoder], encoded: Encoded, codec: Writes, predictions: Sequence[Prediction]
) -> list[Prediction]:
    """The answers to each encoded source, also those of an n-best list, read once more by the model that wrote them.

    Several models that answer together have no look in common.
    """
    decoder = models[0].decoder
    if len(models) > 1 or not isinstance(decoder, LooksBack):
        return list(predictions)
    every = [(row, one) for row, first in enumerate(predictions) for one in [first, *first.nbest]]
    numbers = [[BEGIN, *codec.target.vocabulary.encode(one.output_tokens)] for _, one in every]
    rows = torch.tensor([row for row, _ in every], device=encoded.mask.device)
    looked = decoder.look_back(pad(numbers).data.to(rows.device), pick(encoded, rows))
    weights = looked.weights.float().cpu().numpy()  # (R, T, T)
    columns = None if looked.copied is None else looked.copied.cpu().numpy()  # (R, T)
    found = iter(
        _with_look(one, decoder, weights[place], None if columns is None else columns[place])
        for place, (_, one) in enumerate(every)
    )
    return [replace(next(found), nbest=[next(found) for _ in first.nbest]) for first in predictions]


def _with_look(
    one: Prediction, decoder: LooksBack, weights: NDArray[np.float32], columns: NDArray[np.int64] | None
) -> Prediction:
    size, tokens = len(one.output_tokens), one.output_tokens
    name = decoder.look
    look = Look(name, np.array(weights[:size, :size]), list(tokens), [decoder.before, *tokens][:size])
    if columns is None:
        return replace(one, looks=[*one.looks, look])
    copied = [(t, int(column)) for t, column in enumerate(columns[:size]) if column > 0]
    return replace(one, looks=[*one.looks, look], copied=copied)
