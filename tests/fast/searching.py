"""What the tests of searches inside C share: models, how answers are compared, and who went the usual way."""

from typing import Any

import pytest

from regard.model import EncoderDecoder
from regard.prediction import Prediction
from regard.tasks import sequence
from tests.tiny import model


def made(seed: int = 0, **options: Any) -> EncoderDecoder:
    return model(seed, std=0.5, **options).float()


def compare(found: list[Prediction], wanted: list[Prediction]) -> None:
    for mine, reference in zip(found, wanted, strict=True):
        compare([*mine.nbest], [*reference.nbest])
        assert mine.output_tokens == reference.output_tokens
        assert mine.finished == reference.finished
        assert mine.score == pytest.approx(reference.score, abs=1e-5)
        assert mine.log_probability == pytest.approx(reference.log_probability, abs=1e-5)
        assert mine.attention == pytest.approx(reference.attention, abs=1e-5)


def count_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """As long as the number of calls of the search with this name, greedy or beam."""
    calls: list[int] = []
    usual = getattr(sequence, name)

    def counting(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        return usual(*arguments, **named)

    monkeypatch.setattr(sequence, name, counting)
    return calls
