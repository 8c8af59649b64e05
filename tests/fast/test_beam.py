"""Beam search: the one inside beam.c finds what search.beam finds, by the plain model."""

from collections.abc import Iterator
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
from tests.tiny import CODEC, EXAMPLES, N

pytestmark = pytest.mark.skipif(kernels.library() is None, reason="this machine has no C compiler")


def answers(one: EncoderDecoder, request: Request) -> list[Prediction]:
    return answer([one], CODEC, EXAMPLES, request, list(range(len(EXAMPLES))))


def check(one: EncoderDecoder, request: Request) -> list[Prediction]:
    """All together and each source alone: that changes nothing."""
    with plain():
        wanted = answers(one, request)
    found = answers(one, request)
    compare(found, wanted)
    compare([answer([one], CODEC, [example], request, [0])[0] for example in EXAMPLES], wanted)
    return found


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many searches went the usual way."""
    return count_calls("beam", monkeypatch)


@pytest.mark.parametrize("penalty", [0.0, 0.7, 1.0])
@pytest.mark.parametrize(("width", "nbest"), [(2, 0), (3, 3), (5, 1), (5, 2), (N, N), (3 * N, 3 * N)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equals_the_plain_search(seed: int, width: int, nbest: int, penalty: float, counted: list[int]) -> None:
    check(made(seed), Request(Search(beam=width, length_penalty=penalty), nbest=nbest))
    assert len(counted) == 1  # the reference's, not ours


@pytest.mark.parametrize("nbest", [1, 4])
@pytest.mark.parametrize(("bias", "ended"), [(-50.0, False), (-1.0, True)])
def test_answers_that_are_cut_off(bias: float, ended: bool, nbest: int, counted: list[int]) -> None:
    """Where END never comes, and where it comes to some."""
    one = made()
    with torch.no_grad():
        one.decoder.output.O.bias[END] = bias
    found = check(one, Request(Search(beam=4, longest_ratio=1.0, longest_extra=0), nbest=nbest))
    assert any(prediction.finished for prediction in found) == ended
    assert len(counted) == 1


def test_of_equal_continuations_the_lower_symbol_wins(counted: list[int]) -> None:
    """A model that holds all symbols equally likely: every choice is a tie."""
    one = made()
    with torch.no_grad():
        one.decoder.output.O.weight.zero_()
        one.decoder.output.O.bias.zero_()
    found = check(one, Request(Search(beam=4, length_penalty=0.0), nbest=4))
    assert found[0].output_tokens == []  # to end at once is the likeliest of all
    assert [one.output for one in found[0].nbest[1:]] == list(CODEC.target.vocabulary.symbols[4:7])
    assert len(counted) == 1


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_two_threads_find_the_same(counted: list[int]) -> None:
    check(made(), Request(Search(beam=8), nbest=8))
    assert len(counted) == 1


@pytest.mark.parametrize("options", [{"shortest": 4}, {"no_repeat": 1}, {"coverage_penalty": 0.2}])
def test_limits_it_does_not_know_go_the_usual_way(options: dict[str, Any], counted: list[int]) -> None:
    check(made(), Request(Search(beam=3, **options)))
    assert len(counted) == 2 + len(EXAMPLES)


@pytest.mark.parametrize("options", [{"decoder_layers": 2}, {"output": "maxout"}, {"cell": "gru"}])
def test_decoders_it_does_not_know_go_the_usual_way(options: dict[str, Any], counted: list[int]) -> None:
    check(made(**options), Request(Search(beam=3)))
    assert len(counted) == 2 + len(EXAMPLES)


def test_queries_out_of_reach_go_the_usual_way(counted: list[int]) -> None:
    one = made()
    with torch.no_grad():
        one.decoder.attention.score.W.weight.mul_(60)
    check(one, Request(Search(beam=3)))
    assert len(counted) > 1


def test_a_length_penalty_below_zero_is_refused() -> None:
    with pytest.raises(UsageError, match="length penalty"):
        answers(made(), Request(Search(beam=3, length_penalty=-1.0)))


def test_a_model_that_has_diverged_says_so() -> None:
    one = made()
    with torch.no_grad():
        one.decoder.output.O.bias[0] = torch.nan
    with pytest.raises(RegardError, match="NaN"):
        answers(one, Request(Search(beam=3)))
