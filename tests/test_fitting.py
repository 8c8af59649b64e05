"""Options of a model that do not go together, or would do nothing beside others, are refused."""

from typing import Any

import pytest

from regard.draft import Draft
from regard.errors import UsageError
from regard.recipe import Recipe


def made(**options: Any) -> Recipe:
    return Draft("here", []).unscaled({f"model.{name}": value for name, value in options.items()})


@pytest.mark.parametrize(
    "options",
    [{"heads": 2}, {"terms": ("coverage",)}, {"window": 2}, {"normalise": "sparsemax"}, {"query": "current"},
     {"input_feeding": True}, {"residual": True}],
)  # fmt: skip
def test_monotonic_attention_refuses_what_it_would_ignore(options: dict[str, Any]) -> None:
    assert made(**options).model.attention == "soft"  # which has use for each of them
    with pytest.raises(UsageError, match=f"here: model.{next(iter(options))} does nothing"):
        made(attention="monotonic", **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"copy": "gate", "attention": "monotonic"}, "copying needs soft attention"),
        ({"copy": "gate", "attention": "none"}, "copying needs soft attention"),
        ({"copy": "gate", "ctc": 0.3}, "set model.ctc=0"),
        ({"copy": "sentinel", "heads": 2}, "no place beside model.heads"),
        ({"copy": "sentinel", "normalise": "sparsemax"}, "no place beside model.normalise"),
        ({"attention": "abs", "tie": True}, "model.tie does nothing with model.attention=abs"),
        ({"attention": "abs", "input_feeding": True}, "--recipe abs"),
    ],
)
def test_copying_and_abs_refuse_what_they_cannot_do(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made(**options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"input_feeding": True}, r"model.input_feeding does nothing with model.cell=lstmn"),
        ({"residual": True}, r"model.residual does nothing with model.cell=lstmn"),
        ({"attention": "monotonic"}, r"model.attention=monotonic needs another model.cell"),
        ({"fusion": "deep", "cell": "lstm"}, r"model.fusion=deep needs model.cell=lstmn"),
        ({"fusion": "deep", "attention": "none"}, r"model.fusion=deep needs model.cell=lstmn and model.attention=soft"),
    ],
)
def test_an_lstmn_refuses_what_it_cannot_do(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made(**{"cell": "lstmn", **options})
