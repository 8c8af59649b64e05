"""Leave one out: what a source place is worth to an output symbol is what changes when it is missing."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from regard.analysis.audit.altered import erase
from regard.analysis.audit.measures import total_variation
from regard.analysis.audit.walking import Array, Moment, Walk, again, array, steps
from regard.data.batching import Padded
from regard.data.vocabulary import UNKNOWN
from regard.model import EncoderDecoder
from regard.search.tree import pick


class Moved(NamedTuple):
    """What erasing place j did to step t."""

    drop: Array  # (…, T, S)  log p(y_t) − log p'(y_t): positive where the place spoke for y_t
    variation: Array  # (…, T, S)  ½ Σ_n |p(n) − p'(n)|


@torch.no_grad()
def erase_weights(model: EncoderDecoder, walked: Walk, mask: torch.Tensor) -> Moved:
    """Place j is not read at step t and the other weights are scaled up; all before that step stays as it was.

    (B, T, S); the S erasures of a source are rows of one batch.
    """
    count, places = mask.shape
    rows = torch.arange(count, device=mask.device).repeat_interleave(places)  # (B · S,)
    gone = torch.eye(places, dtype=torch.bool, device=mask.device).repeat(count, 1)  # (B · S, S)
    memory = pick(walked.memory, rows)
    after = (again(model, moment, memory, rows, erase(gone)) for moment in walked.moments)
    return _stack(_moved(moment, one) for moment, one in zip(walked.moments, after, strict=True))


@torch.no_grad()
def erase_symbols(model: EncoderDecoder, walked: Walk, source: Padded, tokens: torch.Tensor) -> Moved:
    """Symbol j is read as unknown, by the encoder and so at all steps; y_<t stay as they are. (B, T, S) again"""
    count, places = source.data.shape
    data = source.data.repeat_interleave(places, 0)  # (B · S, S)
    gone = torch.eye(places, dtype=torch.bool, device=data.device).repeat(count, 1)
    lengths = source.lengths.repeat_interleave(places)
    erased = Padded(data.masked_fill(gone & Padded(data, lengths).mask, UNKNOWN), lengths)
    after = steps(model, erased, tokens.repeat_interleave(places, 0))
    return _stack(
        _moved(moment, np.exp(array(other.log_probs))) for moment, (_, other) in zip(walked.moments, after, strict=True)
    )


def _moved(moment: Moment, after: Array) -> Moved:
    """One step, against p' (B · S, N) of it: (B, S)"""
    count = len(moment.written)
    before = np.exp(array(moment.log_probs))[:, None]  # (B, 1, N)
    changed = after.reshape(count, -1, after.shape[-1])  # (B, S, N)
    written = moment.written.cpu().numpy()[:, None, None]  # (B, 1, 1)
    tiny = np.finfo(np.float64).tiny
    said = [np.log(np.maximum(np.take_along_axis(one, written, -1)[..., 0], tiny)) for one in (before, changed)]
    return Moved(said[0] - said[1], total_variation(before, changed))


def _stack(several: Iterator[Moved]) -> Moved:
    drops, variations = zip(*several, strict=True)
    return Moved(np.stack(drops, 1), np.stack(variations, 1))
