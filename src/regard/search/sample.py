"""Sampling: symbols drawn by chance, each source with its own dice."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.errors import UsageError
from regard.search.constraints import Constraints, Limits
from regard.search.hypothesis import Hypothesis
from regard.search.ranking import leaders
from regard.search.step import Step
from regard.search.tree import device_of, pick
from regard.search.walk import walk


def sample(
    step: Step,
    state: Any,
    limits: Limits,
    *,
    sources: int,
    seeds: Sequence[int],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    count: int = 1,
    length_penalty: float = 1.0,
) -> list[list[Hypothesis]]:
    """`count` hypotheses for each source, as drawn from p(y)^(1/temperature) cut to top_k and top_p.

    All chance comes from the source's own seed, so batch mates change nothing. log_prob is the model's own,
    before temperature and cuts.
    """
    _check(sources, seeds, temperature, top_k, top_p, count)
    rules = Constraints(limits, sources, device_of(state))
    dice = _dice(seeds, count, rules.longest.tolist())  # (B · count, T + 1)

    def draw(allowed: Tensor, walkers: Tensor, place: int) -> Tensor:
        probs = narrow(allowed, temperature, top_k, top_p).cpu().double()  # not every device has doubles
        reach = probs.cumsum(-1)  # (R, N)
        thrown = dice[walkers.cpu(), place, None] * reach[:, -1:]  # (R, 1)
        token = torch.searchsorted(reach, thrown, right=True).squeeze(1)  # the first whose reach is beyond it
        return token.clamp(max=probs.size(1) - 1).to(walkers.device)

    rows = torch.arange(sources, device=rules.longest.device).repeat_interleave(count)  # (B · count,)
    found = walk(step, pick(state, rows), rules, rows, draw, length_penalty)
    return [found[first : first + count] for first in range(0, len(found), count)]


def narrow(allowed: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    """What to draw from (R, N): tempered, the top_k likeliest, then the smallest set with mass top_p."""
    logits = allowed / temperature
    if 0 < top_k < logits.size(1):
        values, symbols = leaders(logits, top_k)
        logits = torch.full_like(logits, -torch.inf).scatter(1, symbols, values)
    probs = logits.softmax(-1)
    if top_p == 1:
        return probs
    ordered, symbols = probs.sort(dim=-1, descending=True, stable=True)  # (R, N)
    likelier = ordered.cumsum(-1) - ordered  # the mass of all that are likelier
    inside = likelier < top_p - 1e-6  # with some slack: a set that reaches top_p but for rounding is enough
    inside[:, 0] = True
    return probs * torch.zeros_like(inside).scatter(1, symbols, inside)


def _dice(seeds: Sequence[int], count: int, longest: list[int]) -> Tensor:
    """Numbers in [0, 1) for each symbol of each hypothesis; a source's own depend on no other's length."""
    dice = torch.zeros(len(seeds), count, max(longest, default=0) + 1, dtype=torch.float64)
    for row, seed, length in zip(dice, seeds, longest, strict=True):
        generator = torch.Generator().manual_seed(seed)
        row[:, : length + 1] = torch.rand(count, length + 1, generator=generator, dtype=torch.float64)
    return dice.flatten(0, 1)


def _check(sources: int, seeds: Sequence[int], temperature: float, top_k: int, top_p: float, count: int) -> None:
    if len(seeds) != sources:
        raise UsageError(f"{len(seeds)} seeds came for {sources} sources; give one seed per source")
    if not temperature > 0:
        raise UsageError(f"temperature {temperature} came; it must be above 0 (for the likeliest use greedy search)")
    if top_k < 0 or not 0 < top_p <= 1:
        raise UsageError(f"top_k {top_k} and top_p {top_p} came; top_k must be 0 (all) or more, top_p in (0, 1]")
    if count < 1:
        raise UsageError(f"{count} samples were asked for; ask for at least 1")
