"""What a search has found: each owner's best hypotheses, and the way back to their symbols and weights."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from regard.search.hypothesis import Hypothesis, as_numpy
from regard.search.ranking import leaders


class Paths:
    """Back-pointers. Row r after step t descends from row parents[t][r] before it and wrote symbols[t][r]."""

    def __init__(self) -> None:
        self.weights: list[Tensor] = []  # (R_t, S)
        self.parents: list[Tensor] = []  # (R_{t+1},)
        self.symbols: list[Tensor] = []  # (R_{t+1},)

    def grow(self, weights: Tensor, parents: Tensor, symbols: Tensor) -> None:
        self.weights.append(weights.detach())
        self.parents.append(parents)
        self.symbols.append(symbols)

    def follow(self, rows: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Symbols (H, T) and weights (H, T, S) of hypotheses that stood in `rows` when they had `lengths`."""
        longest, places = int(lengths.max()), self.weights[0].size(1)
        symbols = rows.new_zeros(len(rows), longest)  # (H, T)
        weights = self.weights[0].new_zeros(len(rows), longest, places)  # (H, T, S)
        for place in reversed(range(longest)):
            here = (lengths > place).nonzero().squeeze(1)  # the hypotheses that have a symbol at this place
            symbols[here, place] = self.symbols[place][rows[here]]
            rows[here] = self.parents[place][rows[here]]
            weights[here, place] = self.weights[place][rows[here]]  # the parent's: it looked, then wrote
        return symbols, weights


class Entries(NamedTuple):
    """Hypotheses by owner and rank; a score of −∞ marks an empty place."""

    score: Tensor  # (owners, size)
    log_prob: Tensor
    row: Tensor  # where the hypothesis stood when it left
    length: Tensor  # and how many symbols it had


class Pool:
    """The best `size` hypotheses of each owner, best first; on the CPU, since small and often looked at."""

    def __init__(self, owners: int, size: int):
        self.size = size
        score = torch.full((owners, size), -torch.inf, dtype=torch.float64)
        row = torch.zeros(owners, size, dtype=torch.long)
        self.entries = Entries(score, torch.zeros_like(score), row, torch.zeros_like(row))

    def add(self, owners: Tensor, score: Tensor, log_prob: Tensor, length: int) -> None:
        """Offer (L, W) hypotheses of `length` symbols, W to each of L owners, in the order of their rows."""
        if not (score > -torch.inf).any():
            return
        owners, score, log_prob = owners.cpu(), score.cpu().double(), log_prob.cpu().double()
        row = torch.arange(score.numel()).view_as(score)
        offers = Entries(score, log_prob, row, torch.full_like(row, length))
        _, order = leaders(torch.cat([self.entries.score[owners], score], -1), self.size)  # (L, size)
        for kept, offer in zip(self.entries, offers, strict=True):
            kept[owners] = torch.cat([kept[owners], offer], -1).gather(1, order)

    def worst(self, owners: Tensor) -> Tensor:
        """(L,) the score that a newcomer must beat; −∞ while there is room."""
        return self.entries.score[owners.cpu(), -1]


class Answers:
    """Two pools, so that a hypothesis that was cut off never displaces a finished one."""

    def __init__(self, owners: int, nbest: int):
        self.nbest = nbest
        self.finished = Pool(owners, nbest)
        self.cut = Pool(owners, nbest)
        self.paths = Paths()

    def best(self) -> list[list[Hypothesis]]:
        """Up to `nbest` for each owner: the finished ones, best first, then those that were cut off."""
        pairs = zip(self.finished.entries, self.cut.entries, strict=True)
        entries = Entries(*(torch.cat(pair, -1) for pair in pairs))  # (owners, 2 · nbest)
        there = entries.score > -torch.inf
        there &= there.cumsum(-1) <= self.nbest
        owners, ranks = there.nonzero(as_tuple=True)  # (H,), (H,)
        found = self._hypotheses(Entries(*(entry[there] for entry in entries)), ranks < self.nbest)
        answers: list[list[Hypothesis]] = [[] for _ in range(len(there))]
        for owner, hypothesis in zip(owners.tolist(), found, strict=True):
            answers[owner].append(hypothesis)
        return answers

    def _hypotheses(self, entries: Entries, finished: Tensor) -> Iterator[Hypothesis]:
        if len(finished) == 0:
            return
        device = self.paths.parents[0].device
        symbols, weights = self.paths.follow(entries.row.to(device), entries.length.to(device))
        columns = (symbols.tolist(), as_numpy(weights), *(column.tolist() for column in entries), finished.tolist())
        for written, looked, score, log_prob, _, length, ended in zip(*columns, strict=True):
            yield Hypothesis(written[:length], score, log_prob, looked[:length], ended)
