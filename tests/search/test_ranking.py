import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.search.ranking import leaders

few_values = st.lists(
    st.lists(st.sampled_from([-torch.inf, -3.0, -2.0, -1.0, 0.0]), min_size=7, max_size=7),
    min_size=1,
    max_size=5,
)


@given(few_values, st.integers(1, 9))
def test_best_first_and_the_lower_place_of_equals(rows, count):
    values, places = leaders(torch.tensor(rows), count)
    for row, best, where in zip(rows, values.tolist(), places.tolist(), strict=True):
        expected = sorted(range(7), key=lambda place: (-row[place], place))[:count]
        assert best == [row[place] for place in expected]
        real = [place for place in expected if row[place] > -torch.inf]
        assert where[: len(real)] == real  # which of the impossible come last is of no account
        assert len(set(where)) == len(expected)


def test_no_rows_give_no_leaders():
    values, places = leaders(torch.empty(0, 7), 3)
    assert values.shape == places.shape == (0, 3)
