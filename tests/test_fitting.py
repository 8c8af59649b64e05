"""Options of a model that cannot stand beside each other are refused."""

from typing import Any

import pytest

from regard.draft import Draft
from regard.errors import UsageError
from regard.recipe import Recipe


def made(**options: Any) -> Recipe:
    return Draft("here", []).unscaled({f"model.{name}": value for name, value in options.items()})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"copy": "gate", "attention": "monotonic"}, "here: model.copy=gate came with .* copying needs soft attention"),
        ({"copy": "gate", "attention": "none"}, "copying needs soft attention"),
        ({"copy": "gate", "ctc": 0.3}, "set model.ctc=0"),
        ({"copy": "gate", "reverse": 0.7}, "set model.ctc=0 and model.reverse=0"),
        ({"copy": "sentinel", "heads": 2}, "no place beside model.heads"),
        ({"copy": "sentinel", "normalise": "sparsemax"}, "no place beside model.normalise"),
    ],
)
def test_copying_refuses_what_it_cannot_do(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made(**options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"attention": "monotonic"}, r"model.attention=monotonic needs another model.cell"),
        ({"fusion": "deep", "cell": "lstm"}, r"model.fusion=deep needs model.cell=lstmn"),
        ({"fusion": "deep", "attention": "none"}, r"model.fusion=deep needs model.cell=lstmn and model.attention=soft"),
    ],
)
def test_an_lstmn_refuses_what_it_cannot_do(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made(**{"cell": "lstmn", **options})
