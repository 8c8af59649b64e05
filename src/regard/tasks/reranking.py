"""The hypotheses of a beam ranked anew, with what others of the model say of each: its CTC, its decoder from the end.

Needs no torch.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from regard.data.vocabulary import PAD
from regard.recipe import Search

Array = NDArray[Any]
H = TypeVar("H", bound=Any)  # a Hypothesis, of torch or of numpy
LEAST = -1e4  # log p of what cannot be written, as on too few frames: a score must be a number


class Listed(NamedTuple):
    """The answers to all sources of a batch, one after another."""

    owners: Array  # (H,)  whose answer it is
    answers: list[list[int]]  # H × T symbols, without BEGIN and END


Adviser = Callable[[Listed], Array]  # log p of each, (H,)


class Advice(NamedTuple):
    weight: float
    advisers: Sequence[Adviser]  # one of each model that answers; their mean counts


def advice(models: Sequence[Mapping[str, Adviser]], options: Search) -> list[Advice]:
    """Who is asked, and how much it counts: of each model's advisers by name, those that have a weight."""
    weights = {"ctc": options.ctc, "reverse": options.reverse}
    asked = {name: [one[name] for one in models if name in one] for name, weight in weights.items() if weight > 0}
    return [Advice(weights[name], advisers) for name, advisers in asked.items() if advisers]


def rerank(found: Sequence[Sequence[H]], advised: Sequence[Advice], length_penalty: float, nbest: int) -> list[list[H]]:
    """score + Σ_a weight_a · log p_a(y) / |y|^λ; finished ones stay before those cut off."""
    every = [one for several in found for one in several]
    owners = np.array([owner for owner, several in enumerate(found) for _ in several], np.int64)
    listed, added = Listed(owners, [one.tokens for one in every]), np.zeros(len(every))
    for weight, advisers in advised:
        added += weight * np.maximum(np.mean([ask(listed) for ask in advisers], 0), LEAST)  # (H,)
    ranked: list[list[H]] = [[] for _ in found]
    for owner, one, more in zip(owners, every, added.tolist(), strict=True):
        length = max(len(one.tokens) + one.finished, 1)
        ranked[owner].append(one._replace(score=one.score + more / length**length_penalty))
    return [sorted(several, key=lambda one: (not one.finished, -one.score))[:nbest] for several in ranked]


class Frames(NamedTuple):
    """What a CTC says about a batch of sources (see decoders.ctc)."""

    log_probs: Array  # (B, F, N)
    lengths: Array  # (B,)  frames of each source

    def advise(self, listed: Listed) -> Array:
        return ctc_log_probs(self, *listed)


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
