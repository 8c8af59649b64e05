import math

import pytest
import torch

from regard.errors import UsageError
from regard.search.hypothesis import LEAST_READ, Scoring, normalised


def test_length_penalty_divides_by_a_power_of_the_length():
    log_prob = torch.tensor([-8.0, -4.0], dtype=torch.float64)
    assert normalised(log_prob, 4, 0.0).tolist() == [-8.0, -4.0]
    assert normalised(log_prob, 4, 1.0).tolist() == [-2.0, -1.0]
    assert normalised(log_prob, 4, 0.5).tolist() == [-4.0, -2.0]
    assert normalised(log_prob, torch.tensor([2, 4]), 1.0).tolist() == [-4.0, -1.0]


def test_nothing_written_counts_as_one_symbol():
    assert normalised(torch.tensor([-3.0]), 0, 1.0).tolist() == [-3.0]


def test_negative_length_penalty_is_refused():
    with pytest.raises(UsageError, match="length penalty of -1"):
        normalised(torch.zeros(1), 1, -1.0)


def test_coverage_by_hand():
    read = torch.tensor([[0.5, 2.0, 0.25], [1.0, 0.0, 0.0]], dtype=torch.float64)
    mask = torch.tensor([[True, True, True], [True, True, False]])
    scoring = Scoring(1.0, 0.2, mask)
    score = scoring.score(torch.tensor([-2.0, -2.0], dtype=torch.float64), 2, read, torch.tensor([0, 1]))
    expected = [-1 + 0.2 * math.log(0.5 * 0.25), -1 + 0.2 * math.log(LEAST_READ)]
    torch.testing.assert_close(score, torch.tensor(expected, dtype=torch.float64))


def test_mask_is_looked_up_by_source_and_its_absence_means_all_places():
    read = torch.zeros(2, 3)
    mask = torch.tensor([[True, False, False], [True, True, True]])
    floor = math.log(LEAST_READ)
    assert Scoring(1.0, 1.0, mask).score(torch.zeros(2), 1, read, torch.tensor([1, 0])).tolist() == pytest.approx(
        [3 * floor, floor]
    )
    assert Scoring(1.0, 1.0, None).score(torch.zeros(2), 1, read, torch.tensor([1, 0])).tolist() == pytest.approx(
        [3 * floor, 3 * floor]
    )


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0, 2.0])
def test_no_continuation_beats_the_bound(penalty):
    scoring, longest = Scoring(penalty, 0.5, None), 7
    bound = scoring.bound(torch.tensor([-3.0]), torch.tensor([longest]))
    for length in range(1, longest + 2):
        for lost in (0.0, 0.1, 4.0):
            read = torch.full((1, 3), length / 5)
            assert scoring.score(torch.tensor([-3.0 - lost]), length, read, torch.tensor([0])) <= bound
