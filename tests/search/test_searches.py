"""What holds for every way of searching."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.search import Hypothesis, Limits, beam, greedy, sample
from tests.search.toys import Toy, limits, same

Search = Callable[..., list[list[Hypothesis]]]


def by_greedy(toy: Toy, rules: Limits, first: int = 0) -> list[list[Hypothesis]]:
    return [[one] for one in greedy(toy.step, toy.start(), rules, sources=len(toy.table))]


def by_beam(toy: Toy, rules: Limits, first: int = 0) -> list[list[Hypothesis]]:
    return beam(toy.step, toy.start(), rules, sources=len(toy.table), width=4, nbest=3)


def by_covering_beam(toy: Toy, rules: Limits, first: int = 0) -> list[list[Hypothesis]]:
    mask = torch.from_numpy(toy.mask)
    return beam(
        toy.step,
        toy.start(),
        rules,
        sources=len(toy.table),
        width=5,
        nbest=5,
        coverage_penalty=0.3,
        mask=mask,
    )


def by_chance(toy: Toy, rules: Limits, first: int = 0) -> list[list[Hypothesis]]:
    sources = len(toy.table)
    return sample(
        toy.step,
        toy.start(),
        rules,
        sources=sources,
        seeds=range(first, first + sources),
        count=4,
        top_p=0.95,
        temperature=1.3,
    )


every_search = pytest.mark.parametrize("search", [by_greedy, by_beam, by_covering_beam, by_chance])
LONGEST = [3, 7, 0, 5, 9, 1, 4]
PREFIX = [[4], [], [], [6, 5, 4], [3], [], [5, 5]]


def answers(search: Search, seed: int, rules: Limits) -> list[tuple[Toy, int, Hypothesis]]:
    toy = Toy(seed, sources=len(LONGEST))
    return [(toy, source, one) for source, found in enumerate(search(toy, rules)) for one in found]


@every_search
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "rules", [limits(LONGEST), limits(LONGEST, prefix=PREFIX), limits(LONGEST, shortest=2, no_repeat=2)]
)
def test_batch_mates_change_nothing(search, seed, rules):
    toy = Toy(seed, sources=len(LONGEST))
    together = search(toy, rules)
    for source, found in enumerate(together):
        prefix = rules.prefix and [rules.prefix[source]]
        alone = search(toy.only(source), replace(rules, longest=[LONGEST[source]], prefix=prefix), first=source)[0]
        assert len(alone) == len(found) > 0
        assert all(same(one, other) for one, other in zip(found, alone, strict=True))


@every_search
@pytest.mark.parametrize("seed", range(4))
def test_log_prob_and_weights_are_those_of_the_answer(search, seed):
    """Scored again from its symbols alone, an answer is as likely and looked at the same places."""
    for toy, source, one in answers(search, seed, limits(LONGEST, prefix=PREFIX)):
        np.testing.assert_allclose(one.log_prob, toy.log_prob(source, one.tokens, one.finished), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one.weights, toy.weights(source, one.tokens), rtol=1e-9)
        coverage = 0.3 if search is by_covering_beam else 0.0
        np.testing.assert_allclose(
            one.score, toy.score(source, one.tokens, one.finished, 1.0, coverage), rtol=1e-9, atol=1e-12
        )


@every_search
def test_limits_are_kept(search):
    for toy, source, one in answers(search, 1, limits(LONGEST, shortest=3, no_repeat=2)):
        assert len(one.tokens) <= LONGEST[source]
        assert set(one.tokens) <= set(toy.letters)
        pairs = list(zip(one.tokens, one.tokens[1:], strict=False))
        assert len(pairs) == len(set(pairs))
        if one.finished:
            assert len(one.tokens) >= min(3, LONGEST[source])


@every_search
def test_forced_starts_are_written(search):
    for _, source, one in answers(search, 2, limits(LONGEST, prefix=PREFIX)):
        assert one.tokens[: len(PREFIX[source])] == PREFIX[source]


@every_search
def test_the_step_is_handed_the_same_sources_while_they_do_not_change(search):
    toy = Toy(3, sources=len(LONGEST))
    search(toy, limits(LONGEST, shortest=3))
    pairs = list(zip(toy.rows, toy.rows[1:], strict=False))
    unchanged = [before is after for before, after in pairs if torch.equal(before, after)]
    assert unchanged
    assert all(unchanged)


@every_search
def test_gradients_do_not_follow_the_answers(search):
    toy = Toy(3, sources=len(LONGEST))
    plain_step, scale = toy.step, torch.ones(1, requires_grad=True)

    def step(*arguments):
        output = plain_step(*arguments)
        return output._replace(log_probs=output.log_probs * scale, weights=output.weights * scale)

    toy.step = step
    found = [one for several in search(toy, limits(LONGEST)) for one in several]
    assert all(isinstance(one.weights, np.ndarray) and isinstance(one.score, float) for one in found)
