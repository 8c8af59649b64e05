"""The searches in NumPy find what those of regard.search find: the same symbols, scores and weights."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard import search
from regard.data.vocabulary import BEGIN, END
from regard.errors import RegardError, UsageError
from regard.export.search import Array, Hypothesis, Rules, State, StepOutput, beam, greedy, leaders
from regard.search.ranking import leaders as torch_leaders
from regard.tasks.request import FORBIDDEN

SOURCES, PLACES, N = 3, 5, 8  # 4 special symbols and 4 letters
LONGEST = [0, 3, 6]


class Table:
    """log p by source, place and last two symbols, in halves: sums are exact and many answers tie."""

    def __init__(self, seed: int, holes: bool = False):
        random = np.random.default_rng(seed)
        self.table = -random.integers(1, 9, size=(SOURCES, 12, N, N, N)).astype(np.float32) / 2
        if holes:
            self.table[random.random(self.table.shape) < 0.5] = -np.inf
        looked = random.random((SOURCES, 12, N, PLACES)).astype(np.float32)
        self.mask = np.arange(PLACES) < np.array([[2], [5], [3]])  # (B, S)
        looked *= self.mask[:, None, None]
        self.looked = looked / looked.sum(-1, keepdims=True)

    def begin(self) -> State:
        zeros = np.zeros(SOURCES, np.int64)
        return {"place": zeros, "previous": zeros}

    def step(self, tokens: Array, state: State, sources: Array) -> StepOutput:
        place, previous = state["place"], state["previous"]
        log_probs = self.table[sources, place, previous, tokens]
        return StepOutput(log_probs, self.looked[sources, place, tokens], {"place": place + 1, "previous": tokens})

    def torch_step(self, tokens: Tensor, state: Any, sources: Tensor) -> search.StepOutput:
        names = {"place": state[0].numpy(), "previous": state[1].numpy()}
        output = self.step(tokens.numpy(), names, sources.numpy())
        after = tuple(torch.from_numpy(output.state[name]) for name in ("place", "previous"))
        return search.StepOutput(torch.from_numpy(output.log_probs), torch.from_numpy(output.weights), after)

    @property
    def torch_begin(self) -> tuple[Tensor, Tensor]:
        zeros = torch.zeros(SOURCES, dtype=torch.long)
        return zeros, zeros


def limits(shortest: int, no_repeat: int, prefix: list[int]) -> search.Limits:
    start = [prefix] * SOURCES if prefix else None
    return search.Limits(LONGEST, BEGIN, END, shortest, no_repeat, start, FORBIDDEN)


def same(found: list[Hypothesis], expected: list[search.Hypothesis]) -> None:
    assert [one.tokens for one in found] == [one.tokens for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.finished == other.finished
        assert one.log_prob == other.log_prob
        assert one.score == pytest.approx(other.score, rel=1e-5)
        assert one.weights.shape == (len(one.tokens), PLACES)
        np.testing.assert_array_equal(one.weights, other.weights)


tables = st.builds(Table, st.integers(0, 10**6), st.booleans())
rules = st.fixed_dictionaries(
    {
        "shortest": st.integers(0, 4),
        "no_repeat": st.integers(0, 3),
        "prefix": st.sampled_from([[], [], [5], [6, 6, 1, 4]]),
    }
)
penalties = st.sampled_from([0.0, 1.0, 1.7])  # with others, rounding would settle ties


@given(tables, rules, penalties)
@settings(max_examples=150)
def test_greedy(table: Table, given: dict[str, Any], penalty: float) -> None:
    found = greedy(table.step, table.begin(), Rules(LONGEST, table.mask, length_penalty=penalty, **given))
    same(
        found,
        search.greedy(table.torch_step, table.torch_begin, limits(**given), sources=SOURCES, length_penalty=penalty),
    )


@given(tables, rules, penalties, st.sampled_from([0.0, 0.3]), st.integers(1, 9), st.integers(1, 9))
@settings(max_examples=200)
def test_beam(table: Table, given: dict[str, Any], penalty: float, coverage: float, width: int, nbest: int) -> None:
    nbest = min(width, nbest)
    rules = Rules(LONGEST, table.mask, length_penalty=penalty, coverage_penalty=coverage, **given)
    found = beam(table.step, table.begin(), rules, width, nbest)
    expected = search.beam(
        table.torch_step,
        table.torch_begin,
        limits(**given),
        sources=SOURCES,
        width=width,
        nbest=nbest,
        length_penalty=penalty,
        coverage_penalty=coverage,
        mask=torch.from_numpy(table.mask),
    )
    for mine, theirs in zip(found, expected, strict=True):
        same(mine, theirs)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_leaders_settles_ties_alike(seed: int, count: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 4, size=(3, 9)).astype(np.float32)
    values, places = leaders(scores, count)
    expected_values, expected_places = torch_leaders(torch.from_numpy(scores), count)
    np.testing.assert_array_equal(values, expected_values.numpy())
    np.testing.assert_array_equal(places, expected_places.numpy())


def test_not_a_number_is_an_error() -> None:
    table = Table(1)
    table.table[:] = np.nan
    with pytest.raises(RegardError, match="not numbers"):
        greedy(table.step, table.begin(), Rules(LONGEST, table.mask))


def test_a_negative_length_penalty_is_refused() -> None:
    with pytest.raises(UsageError, match=r"length penalty of -1"):
        Rules(LONGEST, Table(1).mask, length_penalty=-1)
