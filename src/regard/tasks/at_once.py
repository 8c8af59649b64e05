"""Searches that a decoder does in one call, where it can: what `search.greedy` and `search.beam` find."""

import torch

from regard.decoders.quick import QuickStep
from regard.decoders.step import State
from regard.fast.beam import Sought
from regard.search.constraints import Limits
from regard.search.hypothesis import Hypothesis, as_numpy, divisors, normalised


def at_once(
    quick: QuickStep, state: State, limits: Limits, width: int, nbest: int, length_penalty: float
) -> list[list[Hypothesis]] | None:
    """Up to `nbest` answers to each source, best first. None where an answer has to obey more than a longest length, or
    the decoder cannot do it."""
    if limits.prefix is not None or limits.shortest > 0 or limits.no_repeat > 0:
        return None
    if width > 1:
        return _spread(quick, state, limits, width, nbest, length_penalty)
    found = _walked(quick, state, limits, length_penalty)
    return None if found is None else [[one] for one in found]


def _walked(quick: QuickStep, state: State, limits: Limits, length_penalty: float) -> list[Hypothesis] | None:
    walked = quick.walk(state, limits.begin, limits.end, limits.forbidden, _longest(limits))
    if walked is None:
        return None
    written = [symbols[:steps] for symbols, steps in zip(walked.symbols.tolist(), walked.steps, strict=True)]
    finished = [symbols[-1] == limits.end for symbols in written]
    lengths = [steps - 1 for steps in walked.steps]  # without END, or without the symbol that is one too many
    sizes = [length + ended for length, ended in zip(lengths, finished, strict=True)]  # END counts
    logs = zip(walked.log_probs.tolist(), sizes, strict=True)
    log_probs = [sum(several[:size]) for several, size in logs]
    scores = normalised(torch.tensor(log_probs, dtype=torch.float64), torch.tensor(sizes), length_penalty).tolist()
    columns = (written, lengths, scores, log_probs, as_numpy(walked.weights), finished)
    return [
        Hypothesis(symbols[:length], score, log_prob, weights[:length], ended)
        for symbols, length, score, log_prob, weights, ended in zip(*columns, strict=True)
    ]


def _spread(
    quick: QuickStep, state: State, limits: Limits, width: int, nbest: int, length_penalty: float
) -> list[list[Hypothesis]] | None:
    longest = _longest(limits)
    lengths = torch.arange(max(longest) + 2, dtype=torch.float32)
    sought = Sought(
        limits.begin, limits.end, limits.forbidden, longest, width, nbest, divisors(lengths, length_penalty)
    )
    found = quick.spread(state, sought)
    if found is None:
        return None
    columns = (found.symbols, found.scores, found.log_probs, found.lengths, found.ended)
    several = zip(*(column.tolist() for column in columns), as_numpy(found.weights), strict=True)
    return [
        [
            Hypothesis(symbols[:length], score, log_prob, weights[:length], ended)
            for symbols, score, log_prob, length, ended, weights in zip(*one, strict=True)
            if length >= 0
        ]
        for one in several
    ]


def _longest(limits: Limits) -> list[int]:
    return [int(length) for length in limits.longest]
