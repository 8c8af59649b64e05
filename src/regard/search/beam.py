"""Beam search: several hypotheses side by side, so that a good answer may begin with an unlikely symbol.

Each source has up to `width` live hypotheses. A step weighs all their continuations; the best `width` that
go on are the live ones of the next step. A hypothesis may end wherever END is among the `width` likeliest
symbols after it: with width 1 that is where greedy search ends, with a width as great as the vocabulary it
is anywhere. What ends goes to a pool of the `nbest` of its source and takes no slot. A source is done when
nothing live can still beat the worst of its full pool, or when all have the longest length; what has not
ended by then is cut off.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.errors import UsageError
from regard.search.answers import Answers, Pool
from regard.search.constraints import Constraints, Limits
from regard.search.hypothesis import Hypothesis, Scoring
from regard.search.ranking import leaders
from regard.search.step import Step, StepOutput
from regard.search.tree import device_of, pick


class Live(NamedTuple):
    """R = L · W hypotheses: W for each of L sources, side by side; log p = −∞ marks an idle slot."""

    alive: Tensor  # (L,)  the sources still searched
    sources: Tensor  # (R,)  the source of each hypothesis
    tokens: Tensor  # (R,)  its last symbol
    written: Tensor  # (R, t)  all its symbols
    log_prob: Tensor  # (R,)
    read: Tensor  # (R, S)  Σ_t α_t;  (R, 1) before the first step has told S
    state: Any


def beam(
    step: Step,
    state: Any,
    limits: Limits,
    *,
    sources: int,
    width: int,
    nbest: int = 1,
    length_penalty: float = 1.0,
    coverage_penalty: float = 0.0,
    mask: Tensor | None = None,
) -> list[list[Hypothesis]]:
    """Up to `nbest` hypotheses for each source, best first, scored as `Scoring` says; mask is (B, S).

    Of equal continuations, that of the better hypothesis wins, then that of the lower symbol number.
    """
    if not 1 <= nbest <= width:
        raise UsageError(
            f"the {nbest} best of a beam of width {width} were asked for; ask for 1 to {width}, or widen it"
        )
    if coverage_penalty < 0:
        raise UsageError(f"a coverage penalty of {coverage_penalty} came; it must be 0 (none) or more")
    rules = Constraints(limits, sources, device_of(state))
    search = _Beam(rules, Scoring(length_penalty, coverage_penalty, mask), Answers(sources, nbest), width)
    live = search.start(sources, state)
    while len(live.alive):
        live = search.advance(live, step(live.tokens, live.state, live.sources))
    return search.answers.best()


@dataclass(frozen=True)
class _Beam:
    rules: Constraints
    scoring: Scoring
    answers: Answers
    width: int

    def start(self, sources: int, state: Any) -> Live:
        """One empty hypothesis for each source; the slots fill as it branches."""
        alive = torch.arange(sources, device=self.rules.longest.device)
        zeros = torch.zeros(sources, device=alive.device)
        tokens = torch.full_like(alive, self.rules.begin)
        return Live(alive, alive, tokens, tokens[:, None][:, :0], zeros, zeros[:, None], state)

    def advance(self, live: Live, output: StepOutput) -> Live:
        """Write one more symbol: from R rows to the R' rows of the next step."""
        live = live._replace(read=live.read.expand_as(output.weights))
        allowed = self.rules.allow(output.log_probs, live.written, live.sources)  # (R, N)
        # what is not among the `width` best of its row cannot be among those of its source; END needs one more
        values, symbols = leaders(allowed, self.width + 1)  # (R, C)
        totals = self._retire(live, live.log_prob[:, None] + values, symbols == self.rules.end)  # (R, C)
        log_prob, places = leaders(totals.view(len(live.alive), -1), self.width)  # (L, W')
        going = self._hopeful(live, log_prob[:, 0])  # (L',)
        chosen = (going[:, None] * (totals.numel() // len(live.alive)) + places[going]).flatten()  # (R',)
        parents, tokens = chosen // totals.size(1), symbols.flatten()[chosen]  # (R',), (R',)
        self.answers.paths.grow(output.weights, parents, tokens)
        alive, sources = live.alive, live.sources
        if len(going) < len(alive) or len(parents) != len(sources):  # else the step is handed the same object
            alive, sources = alive[going], sources[parents]
        written = torch.cat([live.written[parents], tokens[:, None]], -1)  # (R', t + 1)
        read, state = pick((live.read + output.weights, output.state), parents)
        return Live(alive, sources, tokens, written, log_prob[going].flatten(), read, state)

    def _retire(self, live: Live, totals: Tensor, ends: Tensor) -> Tensor:
        """Move what ends or is stuck into the pools; return the log p (R, C) of what goes on."""
        length = live.written.size(1)
        ending = totals.masked_fill(~ends, -torch.inf)[:, : self.width].amax(-1)  # (R,)
        totals = totals.masked_fill(ends, -torch.inf)
        if length >= self.rules.least_full:
            totals = totals.masked_fill(self.rules.full(live.written, live.sources)[:, None], -torch.inf)
        self._offer(self.answers.finished, live, ending, length + 1)
        most = totals.amax(-1)  # (R,)
        if float(most.amin()) == -torch.inf:
            stuck = (most == -torch.inf) & (ending == -torch.inf)  # (R,)
            self._offer(self.answers.cut, live, live.log_prob.where(stuck, -torch.inf), length)
        return totals

    def _offer(self, pool: Pool, live: Live, log_prob: Tensor, length: int) -> None:
        if float(log_prob.amax()) == -torch.inf:
            return
        score = self.scoring.score(log_prob, length, live.read, live.sources)  # (R,)
        shape = (len(live.alive), -1)  # (L, W)
        pool.add(live.alive, score.view(shape), log_prob.view(shape), live.written.size(1))

    def _hopeful(self, live: Live, best: Tensor) -> Tensor:
        """Which of the L sources go on: those whose best live hypothesis may still reach the pool."""
        bound = self.scoring.bound(best, self.rules.longest[live.alive])  # (L,)
        hope = bound.cpu() > self.answers.finished.worst(live.alive)  # (L,)
        return hope.nonzero().squeeze(1).to(best.device)
