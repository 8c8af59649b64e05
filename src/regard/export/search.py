"""Greedy and beam search in NumPy, for machines without torch. They find what regard.search finds: tests compare them.

Read regard.search first; the names are the same. A state is a dictionary of arrays with rows first.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.vocabulary import BEGIN, END
from regard.errors import RegardError, UsageError
from regard.tasks.request import FORBIDDEN

Array = NDArray[Any]
State = dict[str, Array]
IMPOSSIBLE = np.float32(-1e4)  # log p of a forced symbol that the model holds impossible
LEAST_READ = np.float32(1e-4)  # a place read less than this counts as read this much


class StepOutput(NamedTuple):
    log_probs: Array  # (R, N)
    weights: Array  # (R, S)
    state: State


Step = Callable[[Array, State, Array], StepOutput]
"""step(tokens (R,), state, sources (R,)); the same `sources` object comes again while no row changes its source."""


class Hypothesis(NamedTuple):
    tokens: list[int]  # T symbols, without BEGIN and END
    score: float
    log_prob: float
    weights: Array  # (T, S)
    finished: bool


class Rules:
    """What may be written, and how good it is: score = log p(y) / |y|^λ + β Σ_j log min(Σ_t α_tj, 1)."""

    def __init__(
        self,
        longest: Sequence[int],
        mask: Array,  # (B, S)
        *,
        shortest: int = 0,
        no_repeat: int = 0,
        prefix: Sequence[int] = (),
        length_penalty: float = 1.0,
        coverage_penalty: float = 0.0,
    ):
        if length_penalty < 0:
            raise UsageError(
                f"a length penalty of {length_penalty} came; it must be 0 (none) or more, 1 for a mean per symbol"
            )
        self.longest = np.maximum(np.asarray(longest, np.int64), len(prefix))  # (B,)
        self.shortest = np.minimum(self.longest, shortest)  # (B,)
        self.mask = mask
        self.no_repeat, self.prefix = no_repeat, prefix
        self.length_penalty, self.coverage_penalty = length_penalty, coverage_penalty

    def allow(self, log_probs: Array, written: Array, sources: Array) -> Array:
        """(R, N) log p of what may follow `written` (R, t), −∞ for the rest."""
        place = written.shape[1]
        if np.isnan(log_probs).any():
            raise RegardError("the model's probabilities are not numbers (NaN); its training has probably diverged")
        if place < len(self.prefix):
            forced = np.full_like(log_probs, -np.inf)
            forced[:, self.prefix[place]] = np.maximum(log_probs[:, self.prefix[place]], IMPOSSIBLE)
            return forced
        allowed = log_probs.copy()
        allowed[:, FORBIDDEN] = -np.inf
        for row, symbol in self._repeats(written):
            allowed[row, symbol] = -np.inf
        allowed[place < self.shortest[sources], END] = -np.inf
        lost = allowed.max(-1) == -np.inf  # (R,)  the limits leave nothing: rather a short answer than none
        allowed[lost, END] = log_probs[lost, END]
        return allowed

    def _repeats(self, written: Array) -> Iterator[tuple[int, int]]:
        """Symbols that would write n symbols a second time, by row."""
        size, length = self.no_repeat, written.shape[1]
        if 0 < size <= length:
            grams = np.lib.stride_tricks.sliding_window_view(written, size, 1)  # (R, t − n + 1, n)
            latest = written[:, None, length - size + 1 :]  # (R, 1, n − 1)
            for row, place in np.argwhere((grams[..., :-1] == latest).all(-1)):
                yield row, grams[row, place, -1]

    def full(self, written: Array, sources: Array) -> Array:
        """(R,) True where nothing but END may follow."""
        full: Array = written.shape[1] >= self.longest[sources]
        return full

    def normalised(self, log_prob: Array, length: int | Array) -> Array:
        lengths = np.maximum(length, 1).astype(log_prob.dtype)
        normalised: Array = log_prob / lengths**self.length_penalty
        return normalised

    def score(self, log_prob: Array, length: int, read: Array, sources: Array) -> Array:
        """(R,) from log p (R,), the length of all with END, and Σ_t α_t (R, S)."""
        score = self.normalised(log_prob, length)
        if self.coverage_penalty:
            unread = np.log(read.clip(LEAST_READ, 1)) * self.mask[sources]  # (R, S)
            score = score + self.coverage_penalty * unread.sum(-1)
        return score


class Entry(NamedTuple):
    score: float
    log_prob: float
    row: int  # where the hypothesis stood when it left
    length: int  # and how many symbols it had
    finished: bool


class Answers:
    """The best of each source, and the way back to their symbols and weights. What was cut off comes after the rest."""

    def __init__(self, sources: int, nbest: int):
        self.nbest = nbest
        self.finished: list[list[Entry]] = [[] for _ in range(sources)]
        self.cut: list[list[Entry]] = [[] for _ in range(sources)]
        self.steps: list[tuple[Array, Array, Array]] = []  # weights (R, S); parents (R',) and symbols (R',) of the next

    def add(self, finished: bool, owners: Array, score: Array, log_prob: Array, length: int) -> None:
        """Offer hypotheses of `length` symbols, one per row, to the owner of that row; −∞ is none."""
        pools = self.finished if finished else self.cut
        for row in np.flatnonzero(score > -np.inf):
            entry = Entry(float(score[row]), float(log_prob[row]), int(row), length, finished)
            pool = [*pools[owners[row]], entry]
            pools[owners[row]] = sorted(pool, key=lambda one: -one.score)[: self.nbest]  # of equals, the earlier

    def worst(self, owners: Array) -> Array:
        """(L,) the score that a newcomer must beat; −∞ while there is room."""
        pools = [self.finished[owner] for owner in owners]
        return np.array([pool[-1].score if len(pool) == self.nbest else -np.inf for pool in pools])

    def best(self) -> list[list[Hypothesis]]:
        pairs = zip(self.finished, self.cut, strict=True)
        return [[self._hypothesis(one) for one in (*finished, *cut)[: self.nbest]] for finished, cut in pairs]

    def _hypothesis(self, entry: Entry) -> Hypothesis:
        row, tokens, looked = entry.row, [], []
        for weights, parents, symbols in reversed(self.steps[: entry.length]):
            tokens.append(int(symbols[row]))
            row = parents[row]
            looked.append(weights[row])  # the parent's: it looked, then wrote
        seen = np.array(looked[::-1], np.float32).reshape(entry.length, self.steps[0][0].shape[1])
        return Hypothesis(tokens[::-1], entry.score, entry.log_prob, seen, entry.finished)


def greedy(step: Step, state: State, rules: Rules) -> list[Hypothesis]:
    """y_t = argmax_y p(y | y_<t), one hypothesis for each source; who is done leaves the batch."""
    sources = np.arange(len(rules.longest))  # (R,)
    answers = Answers(len(sources), 1)
    tokens = np.full_like(sources, BEGIN)
    written: Array = tokens[:, None][:, :0]  # (R, t)
    log_prob: Array = np.zeros(len(sources), np.float32)  # (R,)
    while len(sources):
        output = step(tokens, state, sources)
        allowed, length = rules.allow(output.log_probs, written, sources), written.shape[1]
        tokens = allowed.argmax(-1)  # (R,)  the first of equals
        total = log_prob + allowed[np.arange(len(tokens)), tokens]
        ended = (tokens == END) & (total > -np.inf)
        stuck = ~ended & (rules.full(written, sources) | (total == -np.inf))
        for leaves, value, size in ((ended, total, length + 1), (stuck, log_prob, length)):
            score = np.where(leaves, rules.normalised(value, size), -np.inf)
            answers.add(leaves is ended, sources, score, value, length)
        going = np.flatnonzero(~ended & ~stuck)
        answers.steps.append((output.weights, going, tokens[going]))
        written, log_prob, state = np.concatenate([written, tokens[:, None]], -1), total, output.state
        if len(going) < len(sources):
            sources, tokens, written, log_prob = (one[going] for one in (sources, tokens, written, log_prob))
            state = {name: array[going] for name, array in state.items()}
    return [found for (found,) in answers.best()]


def beam(step: Step, state: State, rules: Rules, width: int, nbest: int) -> list[list[Hypothesis]]:
    """Up to `nbest` hypotheses for each source, best first; when a source is done is told in regard.search.beam."""
    alive = sources = np.arange(len(rules.longest))  # (L,), (R,)
    answers = Answers(len(alive), nbest)
    tokens = np.full_like(alive, BEGIN)
    written: Array = tokens[:, None][:, :0]  # (R, t)
    log_prob: Array = np.zeros(len(alive), np.float32)  # (R,)
    read: Array = np.zeros((), np.float32)  # (R, S)
    while len(alive):
        output = step(tokens, state, sources)
        read = np.broadcast_to(read, output.weights.shape)
        values, symbols = leaders(rules.allow(output.log_probs, written, sources), width + 1)  # (R, C)
        totals, ends = log_prob[:, None] + values, symbols == END
        ending = np.where(ends, totals, -np.inf)[:, :width].max(-1)  # (R,)
        totals[ends | rules.full(written, sources)[:, None]] = -np.inf
        stuck = (totals.max(-1) == -np.inf) & (ending == -np.inf)
        cut, length = np.where(stuck, log_prob, -np.inf), written.shape[1]
        for finished, value, size in ((True, ending, length + 1), (False, cut, length)):
            answers.add(finished, sources, rules.score(value, size, read, sources), value, length)
        best, places = leaders(totals.reshape(len(alive), -1), width)  # (L, W)
        bound = rules.normalised(best[:, 0], rules.longest[alive] + 1)  # (L,)  no continuation scores more
        going = np.flatnonzero(bound > answers.worst(alive))  # (L',)
        chosen = (going[:, None] * (totals.size // len(alive)) + places[going]).ravel()  # (R',)
        parents, tokens = chosen // totals.shape[1], symbols.ravel()[chosen]
        answers.steps.append((output.weights, parents, tokens))
        if len(going) < len(alive) or len(parents) != len(sources):  # else the step is handed the same object
            alive, sources = alive[going], sources[parents]
        written, log_prob = np.concatenate([written[parents], tokens[:, None]], -1), best[going].ravel()
        read, state = (read + output.weights)[parents], {name: one[parents] for name, one in output.state.items()}
    return answers.best()


def leaders(scores: Array, count: int) -> tuple[Array, Array]:
    """The `count` best of each row of (L, M) and their places, best first; of equals, the lower place wins."""
    count = min(count, scores.shape[1])
    places = np.argpartition(scores, -count)[:, -count:]  # (L, count)  of equals, any
    last = np.take_along_axis(scores, places, -1).min(-1, keepdims=True)  # (L, 1)
    better, equal = scores > last, scores == last  # (L, M)
    room = count - better.sum(-1, keepdims=True)  # (L, 1)
    tied = np.flatnonzero((equal.sum(-1) > room[:, 0]) & (last[:, 0] > -np.inf))
    chosen = better[tied] | (equal[tied] & (equal[tied].cumsum(-1) <= room[tied]))
    places[tied] = np.nonzero(chosen)[1].reshape(len(tied), count)
    places.sort(-1)  # so that the stable sort keeps equals in rising order
    values = np.take_along_axis(scores, places, -1)
    order = np.argsort(-values, axis=-1, kind="stable")
    return np.take_along_axis(values, order, -1), np.take_along_axis(places, order, -1)


class Forced(NamedTuple):
    hypothesis: Hypothesis
    following: Array  # (N,)


def forced(step: Step, state: State, targets: Sequence[Sequence[int]], length_penalty: float = 1.0) -> list[Forced]:
    """log p(y_1 … y_T END | x) and α_1 … α_T of one given y for each source."""
    longest = max(map(len, targets), default=0)
    tokens = np.array([[BEGIN, *target, *[END] * (longest + 1 - len(target))] for target in targets])  # (B, T + 2)
    rows = np.arange(len(targets))
    log_probs, weights = [], []
    following: dict[int, Array] = {}
    for place in range(longest + 1):
        output = step(tokens[:, place], state, rows)
        state = output.state
        log_probs.append(output.log_probs[rows, tokens[:, place + 1]])
        weights.append(output.weights)
        ending = [row for row, target in enumerate(targets) if len(target) == place]
        following.update((row, output.log_probs[row]) for row in ending)
    logs, looks = np.stack(log_probs, 1).astype(np.float64), np.stack(weights, 1)  # (B, T + 1), (B, T + 1, S)
    found = []
    for row, target in enumerate(targets):
        size = len(target) + 1  # END counts
        log_prob = float(logs[row, :size].sum())
        score = log_prob / size**length_penalty
        found.append(Forced(Hypothesis(list(target), score, log_prob, looks[row, : size - 1], True), following[row]))
    return found
