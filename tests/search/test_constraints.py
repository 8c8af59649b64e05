import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import RegardError, UsageError
from regard.search.constraints import IMPOSSIBLE, Constraints, Limits
from tests.search.toys import BEGIN, END, FORBIDDEN, limits

SYMBOLS = 7
CPU = torch.device("cpu")


def allowed_after(
    rules: Constraints, written: list[list[int]], log_probs: torch.Tensor | None = None
) -> list[set[int]]:
    """The symbols that may follow each row; row r reads source r."""
    if log_probs is None:
        log_probs = torch.full((len(written), SYMBOLS), -1.0)
    past = torch.tensor(written, dtype=torch.long).view(len(written), -1)
    allowed = rules.allow(log_probs, past, torch.arange(len(written)))
    return [set((row > -torch.inf).nonzero().squeeze(1).tolist()) for row in allowed]


def test_forbidden_symbols_are_out_and_the_rest_is_untouched():
    log_probs = torch.randn(1, SYMBOLS).log_softmax(-1)
    before = log_probs.clone()
    allowed = Constraints(limits([5]), 1, CPU).allow(log_probs, torch.zeros(1, 0).long(), torch.tensor([0]))
    assert torch.equal(log_probs, before)
    assert allowed[0, [0, 1, 3]].tolist() == [-torch.inf] * 3
    assert torch.equal(allowed[0, [2, 4, 5, 6]], before[0, [2, 4, 5, 6]])


def test_end_must_wait_for_the_shortest():
    rules = Constraints(limits([5], shortest=2), 1, CPU)
    assert allowed_after(rules, [[4]]) == [{4, 5, 6}]
    assert allowed_after(rules, [[4, 4]]) == [{END, 4, 5, 6}]


def test_shortest_gives_way_to_a_source_that_is_shorter():
    rules = Constraints(limits([1, 5], shortest=3), 2, CPU)
    assert allowed_after(rules, [[4], [4]]) == [{END, 4, 5, 6}, {4, 5, 6}]


def test_full_is_for_each_source_its_own():
    rules = Constraints(limits([1, 2, 3]), 3, CPU)
    assert rules.full(torch.zeros(3, 2).long(), torch.tensor([2, 1, 0])).tolist() == [False, True, True]


@given(st.lists(st.lists(st.integers(4, 6), min_size=6, max_size=6), min_size=1, max_size=4), st.integers(1, 4))
def test_no_n_gram_comes_twice(rows, size):
    rules = Constraints(limits([9] * len(rows), no_repeat=size), len(rows), CPU)
    for row, found in zip(rows, allowed_after(rules, rows), strict=True):
        grams = {tuple(row[i : i + size]) for i in range(len(row) - size + 1)}
        expected = {s for s in (4, 5, 6) if (*row[len(row) - size + 1 :], s) not in grams}
        assert found == expected | {END}


def test_where_nothing_is_left_the_answer_may_end_early():
    rules = Constraints(limits([9], no_repeat=1, shortest=9), 1, CPU)
    assert allowed_after(rules, [[4, 5, 6]]) == [{END}]


def test_forced_start_stands_above_all_other_limits():
    rules = Constraints(limits([1, 9], prefix=[[4, 3, 4], [5]], no_repeat=1), 2, CPU)
    assert allowed_after(rules, [[], []]) == [{4}, {5}]
    assert allowed_after(rules, [[4], [5]]) == [{3}, {END, 4, 6}]
    assert allowed_after(rules, [[4, 3], [5, 4]]) == [{4}, {END, 6}]
    assert rules.full(torch.zeros(2, 2).long(), torch.arange(2)).tolist() == [False, False]
    assert rules.full(torch.zeros(2, 3).long(), torch.arange(2)).tolist() == [True, False]


def test_forced_symbol_keeps_its_price_even_if_impossible():
    rules = Constraints(limits([9, 9], prefix=[[4], [5]]), 2, CPU)
    log_probs = torch.randn(2, SYMBOLS).log_softmax(-1)
    log_probs[1, 5] = -torch.inf
    allowed = rules.allow(log_probs, torch.zeros(2, 0).long(), torch.arange(2))
    assert allowed[0, 4] == log_probs[0, 4]
    assert allowed[1, 5] == IMPOSSIBLE


def test_half_precision_is_added_up_in_single():
    rules = Constraints(limits([9]), 1, CPU)
    log_probs = torch.randn(1, SYMBOLS).log_softmax(-1)
    for dtype, expected in ((torch.bfloat16, torch.float32), (torch.float64, torch.float64)):
        assert rules.allow(log_probs.to(dtype), torch.zeros(1, 0).long(), torch.tensor([0])).dtype == expected


def test_longest_may_be_a_tensor():
    rules = Constraints(Limits(torch.tensor([3, 1]), BEGIN, END, forbidden=FORBIDDEN), 2, CPU)
    assert rules.longest.tolist() == [3, 1]


def test_limits_for_another_number_of_sources_are_refused():
    with pytest.raises(UsageError, match="3 sources came with 2 longest lengths"):
        Constraints(limits([5, 5]), 3, CPU)
    with pytest.raises(UsageError, match="1 forced"):
        Constraints(limits([5, 5], prefix=[[4]]), 2, CPU)


def test_a_broken_model_is_named():
    with pytest.raises(RegardError, match="NaN"):
        Constraints(limits([5]), 1, CPU).allow(
            torch.full((1, SYMBOLS), torch.nan), torch.zeros(1, 0).long(), torch.tensor([0])
        )
