"""A class of two texts: what is said of the weights, and what keeps rows of learned queries apart."""

import pytest
import torch

from regard.attention.pool import redundancy
from regard.decoders.choice import Chosen, Classifier
from regard.decoders.pairs import PairChoice
from regard.dropout import Dropout
from tests.encoders.pairs.readers import ROWS, hypotheses, make, premises


def chosen(name: str) -> Chosen:
    pair = make(name)
    choice = PairChoice(pair, Classifier(pair.size, 5, 3, Dropout(0.0)).double())
    answer: Chosen = choice(premises(), hypotheses())
    return answer


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("alignment", [("beside", "source"), ("source", "beside")]),
        ("words", [("beside", "source")]),
        ("sentences", [("choice", "source"), ("choice", "beside")]),
    ],
)
def test_rows_and_columns_are_named_as_they_are(name: str, rows: list[tuple[str, str]]) -> None:
    answer = chosen(name)
    assert answer.logits.shape == (3, 3)
    places = {"source": premises().data.size(1), "beside": hypotheses().data.size(1), "choice": ROWS}
    assert [(look.rows, look.columns) for look in answer.seen] == rows
    for look in answer.seen:
        assert look.weights.shape[1:] == (places[look.rows], places[look.columns])


def test_only_learned_queries_are_kept_apart() -> None:
    assert chosen("alignment").penalty is None
    assert chosen("words").penalty is None
    answer = chosen("sentences")
    assert answer.penalty is not None
    torch.testing.assert_close(answer.penalty, sum(redundancy(look.weights) for look in answer.seen))
    assert (answer.penalty > 0).all()
