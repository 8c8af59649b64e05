import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import UsageError
from regard.search import StepOutput, beam, greedy
from tests.search.toys import BEGIN, END, Toy, limits, same

PENALTIES = [0.0, 0.5, 1.0, 1.7]
seeds = st.integers(0, 10**6)


def plain_beam(toy: Toy, source: int, longest: int, width: int, penalty: float) -> list[tuple[float, list[int]]]:
    """The same beam with lists and loops, which never stops early: all that ended, best first."""
    live, ended = [(0.0, [])], []
    while live:
        longer = []
        for log_prob, written in live:
            row = toy.row(source, written)
            if (row > row[END]).sum() < width:
                ended.append(((log_prob + row[END]) / (len(written) + 1) ** penalty, written))
            if len(written) < longest:
                longer += [(log_prob + row[letter], [*written, letter]) for letter in toy.letters]
        live = sorted(longer, reverse=True)[:width]
    return sorted(ended, reverse=True)


@given(seeds, st.integers(1, 6), st.sampled_from(PENALTIES))
@settings(max_examples=60, deadline=None)
def test_beam_equals_the_plain_one(seed, width, penalty):
    """Nothing that ends keeps a slot, and stopping early loses nothing."""
    toy, longest = Toy(seed, sources=3), [2, 4, 7]
    nbest = (width + 1) // 2
    found = beam(toy.step, toy.start(), limits(longest), sources=3, width=width, nbest=nbest, length_penalty=penalty)
    for source in range(3):
        expected = plain_beam(toy, source, longest[source], width, penalty)[:nbest]
        finished = [one for one in found[source] if one.finished]
        assert [one.tokens for one in finished] == [tokens for _, tokens in expected]
        np.testing.assert_allclose([one.score for one in finished], [score for score, _ in expected], rtol=1e-9)


@given(seeds, st.sampled_from(PENALTIES), st.sampled_from([0.0, 0.3]))
@settings(max_examples=25, deadline=None)
def test_beam_as_wide_as_the_space_is_exhaustive(seed, penalty, coverage):
    toy, longest = Toy(seed, sources=2), [3, 2]
    found = beam(
        toy.step,
        toy.start(),
        limits(longest),
        sources=2,
        width=27 + 9 + 3 + 1,
        nbest=5,
        length_penalty=penalty,
        coverage_penalty=coverage,
        mask=torch.from_numpy(toy.mask),
    )
    for source in range(2):
        expected = toy.best(source, longest[source], penalty, coverage)[:5]
        assert [one.tokens for one in found[source]] == [tokens for _, tokens in expected]
        np.testing.assert_allclose(
            [one.score for one in found[source]], [score for score, _ in expected], rtol=1e-9, atol=1e-12
        )


@given(seeds, st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_no_width_beats_exhaustive_search(seed, width):
    toy = Toy(seed)
    ((found,),) = beam(toy.step, toy.start(), limits([3]), sources=1, width=width)
    if found.finished:
        assert found.score <= toy.best(0, 3, 1.0)[0][0] + 1e-9


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_width_one_is_greedy(seed):
    toy, longest = Toy(seed, sources=3), limits([0, 4, 9], shortest=1)
    narrow = beam(toy.step, toy.start(), longest, sources=3, width=1, length_penalty=0.0)
    steps, toy.rows = [rows.tolist() for rows in toy.rows], []
    quick = greedy(toy.step, toy.start(), longest, sources=3, length_penalty=0.0)
    assert all(same(one, other) for (one,), other in zip(narrow, quick, strict=True))
    assert steps == [rows.tolist() for rows in toy.rows]  # and it stops where greedy search stops


def chain(*probabilities: dict[int, float], tail: dict[int, float]) -> Toy:
    """A toy whose symbol at each place has these probabilities, whatever was written before."""
    toy = Toy(0)

    def row(given: dict[int, float]) -> torch.Tensor:
        rest = (1 - sum(given.values())) / (toy.symbols - len(given))
        return torch.tensor([given.get(symbol, rest) for symbol in range(toy.symbols)], dtype=torch.float64).log()

    def step(tokens, state, sources):
        place = int(state[0])
        log_probs = row(probabilities[place] if place < len(probabilities) else tail).expand(len(tokens), -1)
        return StepOutput(log_probs, torch.ones(len(tokens), 2), state + 1)

    toy.step, toy.start = step, lambda: torch.zeros(1)
    return toy


@pytest.mark.parametrize("width", [1, 2, 5])
def test_normalised_beam_does_not_answer_with_nothing(width):
    """p(nothing) = 0.4; p(4 5 END) = 0.36 · 0.95 · 0.95 = 0.32 is less, but more per symbol."""
    toy = chain({END: 0.4, 4: 0.36}, {5: 0.95}, {END: 0.95}, tail={4: 0.5})
    ((plain,),) = beam(toy.step, toy.start(), limits([20]), sources=1, width=width, length_penalty=0.0)
    ((mean,),) = beam(toy.step, toy.start(), limits([20]), sources=1, width=width, length_penalty=1.0)
    assert (plain.tokens, math.exp(plain.score)) == ([], pytest.approx(0.4))
    assert mean.tokens == [4, 5]
    assert mean.score == pytest.approx(math.log(0.36 * 0.95 * 0.95) / 3)


@pytest.mark.parametrize("end", [0.0, 1e-9])
def test_model_that_never_stops_still_answers(end):
    toy = chain(tail={END: end, 4: 0.4, 5: 0.3, 6: 0.2})
    ((first, second),) = beam(toy.step, toy.start(), limits([5]), sources=1, width=3, nbest=2)
    assert (first.tokens, first.finished) == ([4] * 5, False)
    assert not second.finished
    assert sorted(second.tokens) == [4, 4, 4, 4, 5]
    assert first.log_prob == pytest.approx(5 * math.log(0.4))
    assert first.score == pytest.approx(math.log(0.4))
    assert first.weights.shape == (5, 2)


@pytest.mark.parametrize("penalty", [60.0, 1e6])
def test_a_penalty_beyond_all_numbers_still_answers(penalty):
    toy = Toy(3)
    (found,) = beam(toy.step, toy.start(), limits([10]), sources=1, width=4, nbest=2, length_penalty=penalty)
    assert len(found) == 2
    assert all(one.finished and math.isfinite(one.score) for one in found)


def test_finished_answers_come_before_those_cut_off():
    toy = chain({END: 0.01, 4: 0.9}, tail={END: 0.0, 4: 0.99})
    ((first, second),) = beam(toy.step, toy.start(), limits([3]), sources=1, width=7, nbest=2)
    assert (first.tokens, first.finished) == ([], True)
    assert (second.tokens, second.finished) == ([4, 4, 4], False)
    assert second.score > first.score


def test_coverage_turns_a_ranking():
    """After 4 the first place is read again, after 5 the second: 4 4 is likelier, 5 4 reads all there is."""
    probabilities = [{4: 0.9, 5: 0.1}, {4: 0.6, 5: 0.4}, {END: 1.0}]
    looks = torch.zeros(7, 3)  # by the last symbol; the third place is padding
    looks[[BEGIN, 4], 0] = looks[5, 1] = 1.0

    def step(tokens, state, sources):
        log_probs = torch.full((len(tokens), 7), -torch.inf).double()
        for symbol, probability in probabilities[int(state[0])].items():
            log_probs[:, symbol] = math.log(probability)
        return StepOutput(log_probs, looks[tokens], state + 1)

    mask = torch.tensor([[True, True, False]])
    best = {}
    for penalty in (0.0, 1.0):
        ((best[penalty],),) = beam(
            step, torch.zeros(1), limits([2]), sources=1, width=4, coverage_penalty=penalty, mask=mask
        )
    assert best[0.0].tokens == [4, 4]
    assert best[1.0].tokens == [5, 4]
    assert best[1.0].score == pytest.approx(math.log(0.1 * 0.6) / 3)


def test_coverage_is_finite_whatever_was_not_read():
    toy = Toy(4, sources=3, places=7)
    toy._look = lambda source, trail: np.eye(7)[0]
    for padding in (torch.from_numpy(toy.mask), None):
        found = beam(
            toy.step,
            toy.start(),
            limits([4] * 3),
            sources=3,
            width=3,
            nbest=3,
            coverage_penalty=0.5,
            mask=padding,
        )
        assert all(math.isfinite(one.score) for answers in found for one in answers)


def test_no_search_after_the_answer_is_certain():
    """Without length penalty nothing beats p(END) = 0.9, so one step is enough."""
    toy, calls = chain(tail={END: 0.9, 4: 0.05}), []

    def step(*arguments):
        calls.append(arguments)
        return chain_step(*arguments)

    chain_step = toy.step
    beam(step, toy.start(), limits([50]), sources=1, width=3, length_penalty=0.0)
    assert len(calls) == 1


def test_every_slot_stays_in_use():
    """One hypothesis ends at every step, and still `width` go on."""
    toy = chain(tail={END: 0.5, 4: 0.2, 5: 0.15, 6: 0.1})
    rows = []

    def step(tokens, state, sources):
        rows.append(len(tokens))
        return chain_step(tokens, state, sources)

    chain_step = toy.step
    beam(step, toy.start(), limits([4]), sources=1, width=3, nbest=3, length_penalty=1.0)
    assert rows == [1, 3, 3, 3, 3]


def test_nbest_are_different_and_in_order():
    toy = Toy(8, sources=3)
    for answers in beam(toy.step, toy.start(), limits([5] * 3), sources=3, width=6, nbest=6):
        assert len({tuple(one.tokens) for one in answers}) == len(answers) == 6
        scores = [one.score for one in answers if one.finished]
        assert scores == sorted(scores, reverse=True)


def test_models_without_weights_are_welcome():
    toy = chain({4: 0.9}, tail={END: 0.9})
    chain_step = toy.step

    def step(*arguments):
        output = chain_step(*arguments)
        return output._replace(weights=output.weights[:, :0])

    ((found,),) = beam(step, toy.start(), limits([4]), sources=1, width=2)
    assert found.tokens == [4]
    assert found.weights.shape == (1, 0)


def test_wrong_calls_are_refused():
    toy = Toy(0)
    for width, nbest in ((2, 3), (0, 0), (2, 0)):
        with pytest.raises(UsageError, match=f"the {nbest} best of a beam of width {width}"):
            beam(toy.step, toy.start(), limits([4]), sources=1, width=width, nbest=nbest)
    with pytest.raises(UsageError, match="coverage penalty of -1"):
        beam(toy.step, toy.start(), limits([4]), sources=1, width=2, coverage_penalty=-1)
    with pytest.raises(UsageError, match="length penalty of -1"):
        beam(toy.step, toy.start(), limits([4]), sources=1, width=2, length_penalty=-1)


def test_of_equals_the_lower_numbers_win():
    toy = chain(tail={4: 0.2, 5: 0.2, 6: 0.2})
    rules = limits([2], shortest=2)
    (found,) = beam(toy.step, toy.start(), rules, sources=1, width=4, nbest=4, length_penalty=0.0)
    assert [one.tokens for one in found] == [[4, 4], [4, 5], [4, 6], [5, 4]]
