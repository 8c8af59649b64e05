import dataclasses
import json

import numpy as np
import pytest

from regard.prediction import Prediction

WEIGHTS = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]], dtype=np.float32)
ONE = Prediction("ab", "B A", -0.5, -1.5, ["a", "b"], ["B", "A", "!"], WEIGHTS)


def test_a_prediction_as_json() -> None:
    content = json.loads(json.dumps(ONE.to_dict()))
    assert content == {
        "source": "ab",
        "output": "B A",
        "score": -0.5,
        "source_tokens": ["a", "b"],
        "output_tokens": ["B", "A", "!"],
        "attention": [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]],
    }


def test_what_is_unusual_is_said() -> None:
    odd = dataclasses.replace(ONE, finished=False, unknown=["b"], attention=None)
    assert odd.to_dict() == ONE.to_dict() | {"attention": None, "finished": False, "unknown": ["b"]}


def test_nbest_is_a_list_of_such() -> None:
    second = dataclasses.replace(ONE, output="A", score=-0.75)
    several = dataclasses.replace(ONE, nbest=[ONE, second])
    assert several.to_dict() == ONE.to_dict() | {"nbest": [ONE.to_dict(), second.to_dict()]}


def test_a_prediction_reads_as_its_output_and_stays_as_it_is() -> None:
    assert f"{ONE}" == "B A"
    with pytest.raises(dataclasses.FrozenInstanceError):
        ONE.output = "C"
