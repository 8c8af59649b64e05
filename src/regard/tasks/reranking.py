"""The hypotheses of a beam ranked anew, with what a model's CTC says of each; needs no torch."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from regard.data.vocabulary import PAD

Array = NDArray[Any]
H = TypeVar("H", bound=Any)  # a Hypothesis, of torch or of numpy
LEAST = -1e4  # log p of what cannot be written on the frames: a score must be a number


class Frames(NamedTuple):
    """What a CTC says about a batch of sources: see decoders.ctc."""

    log_probs: Array  # (B, F, N)
    lengths: Array  # (B,)  frames of each source


def rerank(
    found: Sequence[Sequence[H]], opinions: Sequence[Frames], weight: float, length_penalty: float, nbest: int
) -> list[list[H]]:
    """score + weight · log p_CTC(y) / |y|^λ, the mean of several opinions; finished ones stay before those cut off."""
    owners = np.array([owner for owner, several in enumerate(found) for _ in several], np.int64)
    every = [one for several in found for one in several]
    said = np.mean([ctc_log_probs(frames, owners, [one.tokens for one in every]) for frames in opinions], 0)  # (H,)
    ranked: list[list[H]] = [[] for _ in found]
    for owner, one, log_prob in zip(owners, every, said, strict=True):
        length = max(len(one.tokens) + one.finished, 1)
        ranked[owner].append(
            one._replace(score=one.score + weight * max(float(log_prob), LEAST) / length**length_penalty)
        )
    return [sorted(several, key=lambda one: (not one.finished, -one.score))[:nbest] for several in ranked]


def ctc_log_probs(frames: Frames, sources: Array, answers: Sequence[Sequence[int]]) -> Array:
    """log Σ_π Π_f p(π_f), (H,), of answers to the given sources (H,): over frames, α_f(k) sums the ways that stand at
    place k of  blank y_1 blank y_2 … y_T blank;  one stays, goes on, or leaves out a blank between unlike symbols."""
    lengths = np.array([len(answer) for answer in answers])
    places = 2 * max(lengths, default=0) + 1
    written = np.full((len(answers), places), PAD)  # (H, P)
    for row, answer in enumerate(answers):
        written[row, 1 : 2 * len(answer) : 2] = answer
    skips = np.zeros(written.shape, bool)
    skips[:, 2:] = (written[:, 2:] != PAD) & (written[:, 2:] != written[:, :-2])
    at = frames.log_probs[sources[:, None, None], np.arange(frames.log_probs.shape[1])[:, None], written[:, None]]
    ways = np.full(written.shape, -np.inf)  # (H, P)
    ways[:, 0] = 0  # before the first frame, one may stand at the first blank, or go on from it
    nothing = np.full((len(answers), 2), -np.inf)
    for frame in range(at.shape[1]):
        behind = np.concatenate([nothing, ways], 1)  # (H, P + 2)
        moved = np.logaddexp(ways, behind[:, 1:-1])
        moved = np.logaddexp(moved, np.where(skips, behind[:, :-2], -np.inf)) + at[:, frame]
        ways = np.where((frame < frames.lengths[sources])[:, None], moved, ways)
    rows = np.arange(len(answers))
    last = np.where(lengths > 0, ways[rows, 2 * lengths - 1], -np.inf)
    total: Array = np.logaddexp(ways[rows, 2 * lengths], last)
    return total
