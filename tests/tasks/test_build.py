"""What a recipe asks for is what is built: options that would do nothing, or not fit, are refused."""

from typing import Any

import pytest
import torch

from regard.errors import UsageError
from regard.recipe import Search, build
from regard.tasks.sequence import Request, answer
from tests.tiny import CODEC, EXAMPLES, model


@pytest.mark.parametrize(
    "options",
    [{"heads": 2}, {"terms": ("coverage",)}, {"window": 2}, {"normalise": "sparsemax"}, {"query": "current"},
     {"input_feeding": True}, {"residual": True}],
)  # fmt: skip
def test_monotonic_attention_refuses_what_it_would_ignore(options: dict[str, Any]) -> None:
    given = {f"model.{name}": value for name, value in options.items()}
    assert build(given, "here").model.attention == "soft"  # which has use for each of them
    with pytest.raises(UsageError, match=f"here: model.{next(iter(options))} does nothing"):
        build({"model.attention": "monotonic", **given}, "here")


def test_heads_must_divide_the_values() -> None:
    with pytest.raises(UsageError, match=r"model.heads=4 does not divide the encoder's values of size 6"):
        model(heads=4)


def test_tied_weights_need_one_size() -> None:
    with pytest.raises(UsageError, match=r"model.tie needs a readout of the embeddings' size"):
        model(tie=True)


def test_samples_are_scored_by_the_length_penalty_and_come_best_first() -> None:
    torch.manual_seed(5)
    made = model()
    request = Request(Search(beam=1, length_penalty=0.5), nbest=5, sampling=True, seed=3)
    for prediction in answer([made], CODEC, EXAMPLES, request, range(len(EXAMPLES))):
        scores = [one.score for one in prediction.nbest]
        assert scores == sorted(scores, reverse=True)
        for one in prediction.nbest:
            length = len(one.output_tokens) + one.finished
            assert one.score == pytest.approx(one.log_probability / max(length, 1) ** 0.5, rel=1e-6)


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
        build({f"model.{name}": value for name, value in options.items()}, "here")
