"""What a CTC's opinion does to the answers of a beam."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.data.batching import pad
from regard.recipe import Search
from regard.search.hypothesis import Hypothesis
from regard.tasks.reranking import LEAST, Frames, ctc_log_probs, rerank
from regard.tasks.sequence import ModelStep, Request, answer
from tests.tiny import CODEC, EXAMPLES, model

NUMBERS = list(range(len(EXAMPLES)))
LIMITS: dict[str, Any] = {"longest_ratio": 1.0, "longest_extra": 1}  # so that answers fit on the frames


def hypothesis(tokens: list[int], log_prob: float, finished: bool = True) -> Hypothesis:
    return Hypothesis(tokens, log_prob / max(len(tokens) + finished, 1), log_prob, np.zeros((0, 0)), finished)


def test_ranks_by_hand() -> None:
    """One frame: p(4) = 0.6, p(5) = 0.3, p(blank) = 0.1."""
    frames = Frames(np.log([[[0.1, 1e-9, 1e-9, 1e-9, 0.6, 0.3]]]), np.array([1]))
    found = [hypothesis([5], -1.0), hypothesis([4], -1.2), hypothesis([], -0.9, False), hypothesis([4, 5], -0.3)]
    first, second, third, cut = rerank([found], [frames], 0.5, 1.0, nbest=4)[0]
    assert (first.tokens, second.tokens, third.tokens, cut.tokens) == ([4], [5], [4, 5], [])
    assert first.score == pytest.approx((-1.2 + 0.5 * np.log(0.6)) / 2)
    assert second.score == pytest.approx((-1.0 + 0.5 * np.log(0.3)) / 2)
    assert third.score == pytest.approx((-0.3 + 0.5 * LEAST) / 3)  # two symbols do not fit on one frame
    assert cut.score == pytest.approx(-0.9 + 0.5 * np.log(0.1))
    assert first.log_prob == -1.2
    assert [one.tokens for one in rerank([found], [frames], 0.0, 1.0, nbest=2)[0]] == [[4, 5], [5]]


def test_several_opinions_are_averaged() -> None:
    likely, unlikely = (Frames(np.log([[[0.1, 1e-9, 1e-9, 1e-9, p]]]), np.array([1])) for p in (0.8, 0.2))
    (one,) = rerank([[hypothesis([4], -1.0)]], [likely, unlikely], 1.0, 0.0, 1)[0]
    assert one.score == pytest.approx(-0.5 + (np.log(0.8) + np.log(0.2)) / 2)


def answers(made: Any, examples: Any = EXAMPLES, beam: int = 4, nbest: int = 4, **options: Any) -> Any:
    return answer(
        [made], CODEC, examples, Request(Search(beam=beam, **LIMITS, **options), nbest=nbest), NUMBERS[: len(examples)]
    )


def test_answers_carry_the_opinion_of_the_models_ctc() -> None:
    made = model(seed=4, ctc=0.3)
    for alone, together in zip(answers(made, ctc=0), answers(made, ctc=2), strict=True):
        source = CODEC.source.vocabulary.encode(alone.source_tokens)
        with torch.no_grad():
            frames = ModelStep(made, pad([source]), torch.device("cpu")).frames()
        expected = {}
        for one in alone.nbest:
            tokens = CODEC.target.vocabulary.encode(one.output_tokens)
            said = ctc_log_probs(frames, np.array([0]), [tokens]).item()
            expected[one.output] = one.score + 2 * max(said, LEAST) / max(len(tokens) + one.finished, 1)
        assert {one.output for one in together.nbest} == set(expected)
        for one in together.nbest:
            assert one.score == pytest.approx(expected[one.output], abs=1e-9)
        scores = [one.score for one in together.nbest if one.finished]
        assert scores == sorted(scores, reverse=True)
        assert together.output == together.nbest[0].output


def test_the_opinion_changes_something() -> None:
    made = model(seed=4, ctc=0.3)
    orders = [[[one.output for one in several.nbest] for several in answers(made, ctc=weight)] for weight in (0, 2)]
    assert orders[0] != orders[1]


def test_the_best_of_the_whole_beam_is_found_without_asking_for_n_best() -> None:
    made = model(seed=4, ctc=0.3)
    assert [one.output for one in answers(made, nbest=0)] == [one.output for one in answers(made)]


def test_nothing_depends_on_the_batch() -> None:
    made = model(seed=4, ctc=0.3)
    for together, example in zip(answers(made), EXAMPLES, strict=True):
        (alone,) = answers(made, [example])
        assert alone.output == together.output
        assert alone.score == pytest.approx(together.score, abs=1e-9)


def test_greedy_search_has_nothing_to_rank() -> None:
    made = model(seed=4, ctc=0.3)
    for one, other in zip(answers(made, beam=1, nbest=1), answers(made, beam=1, nbest=1, ctc=0), strict=True):
        assert (one.output, one.score) == (other.output, other.score)
