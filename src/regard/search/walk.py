"""Writing one symbol after another without second thoughts: what greedy search and sampling share."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.search.constraints import Constraints
from regard.search.hypothesis import Hypothesis, as_numpy, normalised
from regard.search.step import Step
from regard.search.tree import pick

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""choose(allowed (R, N), walkers (R,), t): the symbol after the first t of each walker, (R,)"""


class Stride(NamedTuple):
    """One symbol further, by all who were still under way."""

    walkers: Tensor  # (R,)
    symbols: Tensor  # (R,)
    weights: Tensor  # (R, S)


class Arrivals(NamedTuple):
    """For each walker: how many symbols it wrote, END not counted, with what log p, and whether END came."""

    lengths: Tensor
    log_probs: Tensor  # doubles on the CPU, since not every device has them
    finished: Tensor


def walk(
    step: Step, state: Any, rules: Constraints, sources: Tensor, choose: Choose, length_penalty: float
) -> list[Hypothesis]:
    """One hypothesis for each row of the state, reading that row's source. Who is done leaves the batch."""
    walkers = torch.arange(len(sources), device=sources.device)  # (R,)
    arrivals = Arrivals(torch.zeros_like(walkers), torch.zeros(len(walkers), dtype=torch.float64), walkers < 0)
    tokens = torch.full_like(walkers, rules.begin)  # (R,)
    written = walkers.new_zeros(len(walkers), 0)  # (R, t)
    log_prob = torch.zeros(len(walkers), device=sources.device)  # (R,)
    strides: list[Stride] = []
    while len(walkers):
        output = step(tokens, state, sources)
        allowed = rules.allow(output.log_probs, written, sources)  # (R, N)
        length = written.size(1)
        tokens = choose(allowed, walkers, length)
        strides.append(Stride(walkers, tokens, output.weights.detach()))
        total = log_prob + allowed.gather(1, tokens[:, None]).squeeze(1)  # (R,)
        possible = total > -torch.inf  # (R,)
        ended = (tokens == rules.end) & possible
        going = ~ended & possible
        if length >= rules.least_full:
            going &= ~rules.full(written, sources)
        written = torch.cat([written, tokens[:, None]], -1)
        if bool(going.all()):
            log_prob, state = total, output.state
            continue
        arrived = (~going).nonzero().squeeze(1)
        who = walkers[arrived]
        arrivals.lengths[who] = length
        arrivals.log_probs[who.cpu()] = torch.where(ended, total, log_prob)[arrived].cpu().double()
        arrivals.finished[who] = ended[arrived]
        walkers, sources, tokens, written, log_prob, state = pick(
            (walkers, sources, tokens, written, total, output.state), going.nonzero().squeeze(1)
        )
    return _hypotheses(strides, arrivals, length_penalty)


def _hypotheses(strides: list[Stride], arrivals: Arrivals, length_penalty: float) -> list[Hypothesis]:
    count, places = len(arrivals.lengths), strides[0].weights.size(1) if strides else 0
    symbols = arrivals.lengths.new_zeros(count, len(strides))  # (walkers, T)
    weights = torch.zeros(count, len(strides), places).to(strides[0].weights) if strides else torch.zeros(0, 0, 0)
    for place, stride in enumerate(strides):
        symbols[stride.walkers, place] = stride.symbols
        weights[stride.walkers, place] = stride.weights
    sizes = (arrivals.lengths + arrivals.finished).cpu()  # END counts
    scores = normalised(arrivals.log_probs, sizes, length_penalty)
    columns = (symbols.tolist(), as_numpy(weights), scores.tolist(), *(column.tolist() for column in arrivals))
    return [
        Hypothesis(row[:length], score, log_prob, looked[:length], finished)
        for row, looked, score, length, log_prob, finished in zip(*columns, strict=True)
    ]
