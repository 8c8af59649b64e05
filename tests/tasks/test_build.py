"""What a recipe asks for is what is built: parts that do not fit are refused."""

import pytest
import torch

from regard.errors import UsageError
from regard.recipe import Search
from regard.tasks.sequence import Request, answer
from tests.tiny import CODEC, EXAMPLES, model


def test_heads_must_divide_the_values() -> None:
    with pytest.raises(UsageError, match=r"model.heads=4 does not divide the encoder's values of size 6"):
        model(heads=4)


def test_tied_weights_need_one_size() -> None:
    said = r"model\.embed=5 and model\.readout=7 must be alike with model\.tie: --set model\.readout=5, or .*tie=false"
    with pytest.raises(UsageError, match=said):
        model(tie=True, output="attentional")
    with pytest.raises(UsageError, match=r"model\.output=plain .* model\.tie: set model\.output=attentional, deep or"):
        model(tie=True, output="plain")


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
