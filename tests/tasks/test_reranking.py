"""What the opinions of a CTC and of a decoder from the end do to the answers of a beam."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.data.batching import pad
from regard.data.vocabulary import BEGIN, END
from regard.recipe import Search
from regard.search.hypothesis import Hypothesis
from regard.tasks.reranking import LEAST, Advice, Frames, Listed, advice, rerank
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
    first, second, third, cut = rerank([found], [Advice(0.5, [frames.advise])], 1.0, nbest=4)[0]
    assert (first.tokens, second.tokens, third.tokens, cut.tokens) == ([4], [5], [4, 5], [])
    assert first.score == pytest.approx((-1.2 + 0.5 * np.log(0.6)) / 2)
    assert second.score == pytest.approx((-1.0 + 0.5 * np.log(0.3)) / 2)
    assert third.score == pytest.approx((-0.3 + 0.5 * LEAST) / 3)  # two symbols do not fit on one frame
    assert cut.score == pytest.approx(-0.9 + 0.5 * np.log(0.1))
    assert first.log_prob == -1.2
    assert [one.tokens for one in rerank([found], [Advice(0.0, [frames.advise])], 1.0, nbest=2)[0]] == [[4, 5], [5]]


def test_several_opinions_are_averaged() -> None:
    likely, unlikely = (Frames(np.log([[[0.1, 1e-9, 1e-9, 1e-9, p]]]), np.array([1])) for p in (0.8, 0.2))
    (one,) = rerank([[hypothesis([4], -1.0)]], [Advice(1.0, [likely.advise, unlikely.advise])], 0.0, 1)[0]
    assert one.score == pytest.approx(-0.5 + (np.log(0.8) + np.log(0.2)) / 2)


def test_several_advisers_add_up_each_by_its_weight() -> None:
    advised = [Advice(0.5, [lambda listed: np.array([-1.0, -3.0])]), Advice(2.0, [lambda listed: -listed.owners])]
    found = [[hypothesis([4], -1.0)], [hypothesis([4, 5], -1.0)]]
    (first,), (second,) = rerank(found, advised, 0.0, 1)
    assert first.score == pytest.approx(-0.5 + 0.5 * -1)
    assert second.score == pytest.approx(-1 / 3 + 0.5 * -3 + 2 * -1)


def test_only_those_with_a_weight_are_asked() -> None:
    def ask(listed: Listed) -> Any:
        raise AssertionError

    one, other = {"ctc": ask, "reverse": ask}, {"reverse": ask}
    assert advice([one, other], Search(ctc=0.0, reverse=0.0)) == []
    assert advice([{}], Search()) == []
    assert advice([one, other], Search(ctc=0.25, reverse=3.0)) == [Advice(0.25, [ask]), Advice(3.0, [ask, ask])]


def answers(made: Any, examples: Any = EXAMPLES, beam: int = 4, nbest: int = 4, **options: Any) -> Any:
    return answer(
        [made], CODEC, examples, Request(Search(beam=beam, **LIMITS, **options), nbest=nbest), NUMBERS[: len(examples)]
    )


def test_answers_carry_the_opinion_of_the_models_ctc() -> None:
    made = model(seed=4, ctc=0.3)
    for alone, together in zip(answers(made, ctc=0), answers(made, ctc=2), strict=True):
        source = CODEC.source.vocabulary.encode(alone.source_tokens)
        with torch.no_grad():
            ask = ModelStep(made, pad([source]), torch.device("cpu")).advisers["ctc"]
        expected = {}
        for one in alone.nbest:
            tokens = CODEC.target.vocabulary.encode(one.output_tokens)
            said = ask(Listed(np.array([0]), [tokens])).item()
            expected[one.output] = one.score + 2 * max(said, LEAST) / max(len(tokens) + one.finished, 1)
        assert {one.output for one in together.nbest} == set(expected)
        for one in together.nbest:
            assert one.score == pytest.approx(expected[one.output], abs=1e-9)
        scores = [one.score for one in together.nbest if one.finished]
        assert scores == sorted(scores, reverse=True)
        assert together.output == together.nbest[0].output


def test_answers_carry_the_opinion_of_the_decoder_from_the_end() -> None:
    """It is asked by hand here: word by word from the last to the first, then END."""
    made = model(seed=4, reverse=0.7)
    decoder: Any = made.asides[0].decoder
    for alone, together in zip(answers(made, reverse=0), answers(made, reverse=0.5), strict=True):
        with torch.no_grad():
            begun = decoder.start(made.encode(pad([CODEC.source.vocabulary.encode(alone.source_tokens)])))
        for one in alone.nbest:
            tokens = CODEC.target.vocabulary.encode(one.output_tokens)
            state, memory = begun
            said = 0.0
            for read, written in zip([BEGIN, *tokens[::-1]], [*tokens[::-1], END], strict=True):
                step = decoder.step(torch.tensor([read]), state, memory)
                state, said = step.state, said + step.logits.log_softmax(-1)[0, written].item()
            expected = one.score + 0.5 * said / max(len(tokens) + one.finished, 1)
            (score,) = [other.score for other in together.nbest if other.output == one.output]
            assert score == pytest.approx(expected, abs=1e-9)


OPINIONS = {"ctc": {"ctc": 0.3}, "reverse": {"reverse": 0.7}}


@pytest.mark.parametrize("opinion", OPINIONS)
def test_the_opinion_changes_something(opinion: str) -> None:
    made = model(seed=4, **OPINIONS[opinion])
    found = [answers(made, **{opinion: weight}) for weight in (0, 2)]
    orders = [[[one.output for one in several.nbest] for several in each] for each in found]
    assert orders[0] != orders[1]


@pytest.mark.parametrize("opinion", OPINIONS)
def test_the_best_of_the_whole_beam_is_found_without_asking_for_n_best(opinion: str) -> None:
    made = model(seed=4, **OPINIONS[opinion])
    assert [one.output for one in answers(made, nbest=0)] == [one.output for one in answers(made)]


@pytest.mark.parametrize("opinion", OPINIONS)
def test_nothing_depends_on_the_batch(opinion: str) -> None:
    made = model(seed=4, **OPINIONS[opinion])
    for together, example in zip(answers(made), EXAMPLES, strict=True):
        (alone,) = answers(made, [example])
        assert alone.output == together.output
        assert alone.score == pytest.approx(together.score, abs=1e-9)


def test_greedy_search_has_nothing_to_rank() -> None:
    made = model(seed=4, ctc=0.3, reverse=0.7)
    silent = answers(made, beam=1, nbest=1, ctc=0, reverse=0)
    for one, other in zip(answers(made, beam=1, nbest=1), silent, strict=True):
        assert (one.output, one.score) == (other.output, other.score)
