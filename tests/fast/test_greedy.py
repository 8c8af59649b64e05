"""Greedy search: the one inside kernels.c finds what search.greedy finds, by the plain model."""

from typing import Any

import pytest
import torch

from regard.data.vocabulary import END
from regard.errors import RegardError, UsageError
from regard.fast import kernels
from regard.fast.switch import plain
from regard.model import EncoderDecoder
from regard.prediction import Prediction
from regard.recipe import Search
from regard.tasks.sequence import Request, answer
from tests.fast.searching import compare, count_calls, made
from tests.tiny import CODEC, EXAMPLES

pytestmark = pytest.mark.skipif(kernels.library() is None, reason="this machine has no C compiler")


def answers(one: EncoderDecoder, request: Request) -> list[Prediction]:
    return [answer([one], CODEC, [example], request, [0])[0] for example in EXAMPLES]


def check(one: EncoderDecoder, request: Request) -> list[Prediction]:
    """Each source alone, and all together: that changes nothing."""
    found = answers(one, request)
    with plain():
        wanted = answers(one, request)
    compare(answer([one], CODEC, EXAMPLES, request, list(range(len(EXAMPLES)))), wanted)
    compare(found, wanted)
    return found


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many searches went the usual way."""
    return count_calls("greedy", monkeypatch)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_equals_the_plain_search(bidirectional: bool, penalty: float, counted: list[int]) -> None:
    one = made(bidirectional=bidirectional)
    check(one, Request(Search(beam=1, length_penalty=penalty)))
    assert len(counted) == len(EXAMPLES)  # the reference's, not ours


def test_answers_that_are_cut_off() -> None:
    one = made()
    with torch.no_grad():
        one.decoder.output.O.bias[END] = -50.0
    found = check(one, Request(Search(beam=1, longest_ratio=1.0, longest_extra=0)))
    assert not any(prediction.finished for prediction in found)


@pytest.mark.parametrize("options", [{"shortest": 4}, {"no_repeat": 1}])
def test_limits_it_does_not_know_go_the_usual_way(options: dict[str, int], counted: list[int]) -> None:
    check(made(), Request(Search(beam=1, **options)))
    assert len(counted) == 2 * len(EXAMPLES) + 1


@pytest.mark.parametrize("options", [{"decoder_layers": 2}, {"output": "maxout"}, {"cell": "gru"}])
def test_decoders_it_does_not_know_go_the_usual_way(options: dict[str, Any], counted: list[int]) -> None:
    check(made(**options), Request(Search(beam=1)))
    assert len(counted) == 2 * len(EXAMPLES) + 1


def test_queries_out_of_reach_go_the_usual_way(counted: list[int]) -> None:
    one = made()
    with torch.no_grad():
        one.decoder.attention.score.W.weight.mul_(60)
    check(one, Request(Search(beam=1)))
    assert len(counted) > len(EXAMPLES)


def test_a_length_penalty_below_zero_is_refused() -> None:
    with pytest.raises(UsageError, match="length penalty"):
        answers(made(), Request(Search(beam=1, length_penalty=-1.0)))


def test_a_model_that_has_diverged_says_so() -> None:
    one = made()
    with torch.no_grad():
        one.decoder.output.O.bias[0] = torch.nan
    with pytest.raises(RegardError, match="NaN"):
        answers(one, Request(Search(beam=1)))
