import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.search import StepOutput, greedy
from tests.search.toys import END, Toy, limits


def by_hand(toy: Toy, source: int, longest: int) -> tuple[list[int], bool]:
    written: list[int] = []
    while True:
        symbol = int(toy.row(source, written).argmax())
        if symbol == END or len(written) == longest:
            return written, symbol == END
        written.append(symbol)


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_greedy_is_the_loop_that_it_stands_for(seed):
    toy, longest = Toy(seed, sources=3), [0, 3, 6]
    for source, found in enumerate(greedy(toy.step, toy.start(), limits(longest), sources=3)):
        assert (found.tokens, found.finished) == by_hand(toy, source, longest[source])


def test_score_is_normalised_by_symbols_and_end():
    toy = Toy(0, sources=11)
    for penalty in (0.0, 0.5, 1.0):
        found = greedy(toy.step, toy.start(), limits([4] * 11), sources=11, length_penalty=penalty)
        assert {one.finished for one in found} == {True, False}
        for source, one in enumerate(found):
            np.testing.assert_allclose(one.score, toy.score(source, one.tokens, one.finished, penalty), rtol=1e-9)


def test_of_equals_the_lower_number_is_written():
    def step(tokens, state, sources):
        return StepOutput(torch.full((len(tokens), 7), -7.0).log_softmax(-1), torch.ones(len(tokens), 1), None)

    (found,) = greedy(step, None, limits([3], shortest=2), sources=1)
    assert (found.tokens, found.finished) == ([4, 4], True)


def test_sources_that_are_done_cost_nothing():
    toy = Toy(1, sources=5)
    found = greedy(toy.step, toy.start(), limits([0, 2, 4, 6, 8]), sources=5)
    for place, rows in enumerate(toy.rows):
        assert rows.tolist() == [source for source, one in enumerate(found) if len(one.tokens) >= place]


def test_no_sources_no_answers():
    toy = Toy(1, sources=1)
    toy.table = toy.table[:0]
    assert greedy(toy.step, toy.start(), limits([]), sources=0) == []
