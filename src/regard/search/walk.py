"""Writing one symbol after another without second thoughts: what greedy search and sampling share."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from regard.search.answers import Answers
from regard.search.constraints import Constraints
from regard.search.hypothesis import Hypothesis, normalised
from regard.search.step import Step
from regard.search.tree import pick

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""choose(allowed (R, N), walkers (R,), t): the symbol after the first t of each walker, (R,)"""


def walk(
    step: Step, state: Any, rules: Constraints, sources: Tensor, choose: Choose, length_penalty: float
) -> list[Hypothesis]:
    """One hypothesis for each row of the state, reading that row's source. Who is done leaves the batch."""
    walkers = torch.arange(len(sources), device=sources.device)  # (R,)
    answers = Answers(len(walkers), nbest=1)
    tokens = torch.full_like(walkers, rules.begin)  # (R,)
    written = walkers.new_zeros(len(walkers), 0)  # (R, t)
    log_prob = torch.zeros(len(walkers), device=sources.device)  # (R,)
    while len(walkers):
        output = step(tokens, state, sources)
        allowed = rules.allow(output.log_probs, written, sources)  # (R, N)
        length = written.size(1)
        tokens = choose(allowed, walkers, length)
        total = log_prob + allowed.gather(1, tokens[:, None]).squeeze(1)  # (R,)
        possible = total > -torch.inf  # (R,)
        ended = (tokens == rules.end) & possible
        going = ~ended & possible
        if length >= rules.least_full:
            going &= ~rules.full(written, sources)
        written = torch.cat([written, tokens[:, None]], -1)
        if bool(going.all()):
            answers.paths.grow(output.weights, torch.arange(len(walkers), device=walkers.device), tokens)
            log_prob, state = total, output.state
            continue
        for pool, leaves, value, size in (
            (answers.finished, ended, total, length + 1),
            (answers.cut, ~ended & ~going, log_prob, length),
        ):
            score = normalised(value, size, length_penalty).where(leaves, -torch.inf)
            pool.add(walkers, score[:, None], value[:, None], length)
        kept = going.nonzero().squeeze(1)
        answers.paths.grow(output.weights, kept, tokens[kept])
        walkers, sources, tokens, written, log_prob, state = pick(
            (walkers, sources, tokens, written, total, output.state), kept
        )
    return [found for (found,) in answers.best()]
