"""A run whose answers are chosen or pointed at, not written, over real HTTP."""

import dataclasses
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from regard import Prediction, Run
from regard.data.readers import Example
from regard.data.text import normalise
from regard.pictures.numbers import from_json
from regard.service.limits import Limits
from regard.service.models import Model
from tests.service.http import Service, serving, trouble
from tests.test_prediction import CHOSEN


class Chooser(Run):
    """Reads a question beside its source, and always answers the same; its codec cuts no targets."""

    task = SimpleNamespace(BESIDE="question")

    def __init__(self, run: Run) -> None:
        cut = {"source_symbols": lambda example: example.source.split(), "clean": normalise}
        codec = SimpleNamespace(features=True, lowercase=False, opens_files=False, **cut)
        super().__init__(run.path, run.recipe, codec, run.models)

    def find(self, examples: Sequence[Example], request: Any, numbers: Sequence[int]) -> list[Prediction]:
        return [dataclasses.replace(CHOSEN, source=example.source) for example in examples]


@pytest.fixture(scope="module")
def choosing(run: Run) -> Iterator[Service]:
    with serving([Model("chooser", Chooser(run))]) as service:
        yield service


def test_what_is_not_written_has_no_beam_to_pay_for(run: Run) -> None:
    with serving([Model("chooser", Chooser(run))], Limits(weights=1_000_000)) as service:
        asked = {"sources": ["good day " * 350] * 8, "features": "how?"}
        assert service.post("/v1/predict", asked).status_code == 200
        asked = {"sources": ["good day " * 350] * 80, "features": "how?"}
        error = trouble(service.post("/v1/predict", asked), 413)
        assert "beam" not in error["fix"]


def test_what_it_is_is_told(choosing: Service) -> None:
    [told] = choosing.client.get("/v1/models").json()["models"]
    assert (told["features"], told["beside"], told["writes"]) == (True, "question", False)


def test_all_of_a_chosen_answer_is_sent(choosing: Service) -> None:
    found = choosing.predict(CHOSEN.source, features="is it good ?")
    assert found["output"] == "positive"
    assert list(found["probabilities"].items()) == [("positive", 0.926), ("negative", 0.074)]
    assert (found["lines"], found["line_weights"]) == ([3, 3], [0.7, 0.3])
    assert found["looks"] == [
        {"name": "overlap", "weights": [[1, 0], [0, 1]], "rows": ["1", "2"], "columns": ["1", "2"]}
    ]


def test_a_beam_is_refused_where_nothing_is_searched_for(choosing: Service) -> None:
    asked = {"source": CHOSEN.source, "features": "is it good ?"}
    error = trouble(choosing.post("/v1/predict", {**asked, "beam": 3}), 422)
    assert error["message"].startswith("beam does nothing in the task")
    assert choosing.predict(**asked, nbest=2)["output"] == "positive"


def test_a_missing_second_text_is_told_by_the_name_of_its_field(choosing: Service) -> None:
    error = trouble(choosing.post("/v1/predict", {"source": CHOSEN.source}), 422)
    assert error["message"] == 'there is no question beside the source: give it as "features"'


def test_its_picture_needs_no_target_and_holds_its_looks(choosing: Service) -> None:
    response = choosing.post("/v1/picture", {"source": CHOSEN.source, "features": "is it good ?", "format": "json"})
    text, look = from_json(response.text)
    assert (text.title, text.lines, look.title) == ("positive 0.93", (3, 3), "overlap")
    assert (np.array(text.weights, dtype=np.float32) == CHOSEN.attention).all()
    drawn = choosing.post("/v1/picture", {"source": CHOSEN.source, "features": "is it good ?", "format": "svg"})
    assert "glow cell" in drawn.text


@pytest.mark.parametrize(
    ("path", "body"),
    [("force", {"target": "x"}), ("choices", {}), ("predict", {"prefix": "x"}), ("picture", {"target": "x"})],
)
def test_what_only_writers_can_do_is_refused(choosing: Service, path: str, body: dict[str, Any]) -> None:
    error = trouble(choosing.post(f"/v1/{path}", {"source": "good film", "features": "is it ?", **body}), 422)
    assert "does not write its answers symbol by symbol" in error["message"]
