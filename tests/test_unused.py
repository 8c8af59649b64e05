"""An option that does nothing is refused with what came, why, and what to do."""

import pytest

from regard.errors import UsageError
from regard.recipe import Recipe
from regard.settings import build
from regard.unused import Unused, refuse_unused, within

TABLE: Unused = {
    ("task", "fill"): ("training.smoothing", "search.beam"),
    ("model.attention", "none"): within("model", "heads", "terms"),
    ("model.terms", ()): ("model.term_width",),
    ("model.tie", True): ("model.agreement", "model.query"),
}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model.term_width": 3}, "model.term_width=3 does nothing with model.terms=[]: set model.term_width=5, or"),
        (
            {"model.attention": "none", "model.heads": 2, "model.terms": ["location", "markov"]},
            "model.heads=2, model.terms=[location, markov] do nothing with model.attention=none: set model.heads=1, "
            "model.terms=[], or choose another model.attention",
        ),
        (
            {"model.tie": True, "model.agreement": 1.0, "model.query": "current"},
            "model.agreement=1.0, model.query=current do nothing with model.tie=true: set model.agreement=null, "
            "model.query=previous, or choose another model.tie",
        ),
        (
            {"task": "fill"},
            "training.smoothing=0.1 does nothing in the task fill: set training.smoothing=0.0",
        ),
    ],
)
def test_the_message_says_what_came_why_and_what_to_do(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        refuse_unused(build(options, "here"), TABLE)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"model.attention": "none", "model.heads": 1},  # set, but to what it is anyway
        {"model.heads": 2},
        {"model.terms": ["location"], "model.term_width": 3},
        {"task": "fill", "training.smoothing": 0.0},
    ],
)
def test_what_is_used_or_as_by_default_may_stay(options: dict[str, object]) -> None:
    refuse_unused(build(options, "here"), TABLE)


def test_every_name_is_an_option() -> None:
    with pytest.raises(KeyError, match=r"model\.head"):
        refuse_unused(Recipe(), {("model.attention", "soft"): ("model.head",)})
