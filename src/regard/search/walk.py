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
        ended = (tokens == rules.end) & (total > -torch.inf)
        stuck = ~ended & (rules.full(written, sources) | (total == -torch.inf))
        for pool, leaves, value, size in (
            (answers.finished, ended, total, length + 1),
            (answers.cut, stuck, log_prob, length),
        ):
            score = normalised(value, size, length_penalty).where(leaves, -torch.inf)
            pool.add(walkers, score[:, None], value[:, None], length)
        going = (~ended & ~stuck).nonzero().squeeze(1)
        answers.paths.grow(output.weights, going, tokens[going])
        written = torch.cat([written, tokens[:, None]], -1)
        log_prob, state = total, output.state
        if len(going) < len(walkers):
            kept = pick((walkers, sources, tokens, written, log_prob, state), going)
            walkers, sources, tokens, written, log_prob, state = kept
    return [found for (found,) in answers.best()]
