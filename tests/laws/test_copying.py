"""Copying through every search: nothing depends on batch mates, reported is teacher-forced, and copies are marked."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.data.readers import Example
from regard.data.vocabulary import BEGIN, END
from regard.model import EncoderDecoder
from regard.prediction import Prediction
from regard.recipe import Search, Side
from regard.tasks.codec import Codec
from regard.tasks.sequence import Request, answer, batch, encode, force, loss
from regard.tasks.turns import TurnCodec
from tests.laws.test_batch_invariance import same
from tests.tiny import model, padded

PAIRS = [Example("abcabc", "abuv"), Example("defdef", "bcv")]
CODEC = Codec.learn(PAIRS, Side(), Side(), features=False, lowercase=False, copies=True)
EXAMPLES = [Example("adxyx", "xav"), Example("cb", "vv"), Example("zbe", "ebz"), Example("vwxyzde", "wwz")]
NUMBERS = list(range(len(EXAMPLES)))
SHORT = {"longest_ratio": 0.5, "longest_extra": 3}
SEARCHES = {
    "greedy": Request(Search(beam=1, **SHORT)),
    "beam": Request(Search(beam=4, **SHORT), nbest=4),
    "coverage": Request(Search(beam=5, coverage_penalty=0.4, no_repeat=2, shortest=2, **SHORT), nbest=5),
    "prefix": Request(Search(beam=3, **SHORT), nbest=3, prefix="av"),
    "sampling": Request(Search(**SHORT), sampling=True, nbest=3, temperature=1.5, top_k=7, top_p=0.95),
}
every_gate = pytest.mark.parametrize("copy", ["gate", "sentinel"])
every_search = pytest.mark.parametrize("search", SEARCHES)


def make(copy: str, seed: int = 0, **options: Any) -> EncoderDecoder:
    return model(seed, CODEC, std=0.7, copy=copy, **options)


def asked(models: list[EncoderDecoder], request: Request, numbers: list[int]) -> list[Prediction]:
    return answer(models, CODEC, [EXAMPLES[number] for number in numbers], request, numbers)


@every_gate
@every_search
@pytest.mark.parametrize("together", [False, True])
def test_batch_mates_change_nothing(copy: str, search: str, together: bool) -> None:
    """The sources have 3, 0, 2 and 6 symbols that no target vocabulary has, so the width of a step differs."""
    assert [len(CODEC.foreign(list(one.source))) for one in EXAMPLES] == [3, 0, 2, 6]
    models = [make(copy, 1), make("gate", 2, cell="gru")] if together else [make(copy, 1)]
    found = asked(models, SEARCHES[search], NUMBERS)
    alone = [asked(models, SEARCHES[search], [number])[0] for number in NUMBERS]
    for one, other in zip(found, alone, strict=True):
        same(one, other, 1e-9)
        assert one.copied == other.copied


@every_gate
@every_search
@torch.no_grad()
def test_reported_is_teacher_forced_and_copies_are_marked(copy: str, search: str) -> None:
    made = make(copy, 1)
    best = asked([made], SEARCHES[search], NUMBERS)
    found = [one for first in best for one in (first.nbest or [first])]
    sources = padded(*(CODEC.source_numbers(one.source_tokens) for one in found))
    written = [CODEC.target_numbers(one.output_tokens, one.source_tokens) for one in found]
    log_probs, weights = made(sources, padded(*([BEGIN, *numbers] for numbers in written)).data)
    told = made.decoder.tell(
        padded(*([BEGIN, *numbers] for numbers in written)).data,
        made.encode(sources),
        padded(*([*numbers, END] for numbers in written)).data,
    )
    for row, (one, numbers) in enumerate(zip(found, written, strict=True)):
        wanted = [*numbers, END][: len(numbers) + one.finished]
        total = sum(log_probs[row, t, number].item() for t, number in enumerate(wanted))
        assert one.log_probability == pytest.approx(total, abs=1e-9)
        looked = weights[row, : len(numbers), : len(one.source_tokens)].numpy()
        np.testing.assert_allclose(one.attention, looked, atol=1e-6)
        shares = (told.copied[row] - told.log_probs[row]).exp()
        copies = dict(one.copied)
        for t, symbol in enumerate(one.output_tokens):
            assert (t in copies) == (shares[t].item() > 0.5)
            if t in copies:
                places = [j for j, held in enumerate(one.source_tokens) if held == symbol]
                assert copies[t] == max(places, key=lambda j: looked[t, j])


def test_the_answers_say_something() -> None:
    """Some symbols are copied from beyond the vocabulary, some from within, and some are written."""
    known = set(CODEC.target.vocabulary.symbols)
    answers = [one for seed in range(6) for one in asked([make("gate", seed)], SEARCHES["greedy"], NUMBERS)]
    copied = [one.output_tokens[t] for one in answers for t, _ in one.copied]
    assert {symbol in known for symbol in copied} == {True, False}
    assert sum(len(one.output_tokens) for one in answers) > len(copied) > 0


@every_gate
def test_the_loss_of_a_batch_is_the_sum_of_its_examples(copy: str) -> None:
    made, encodings = make(copy), encode(CODEC, EXAMPLES)
    alone = [loss(made, batch(encodings, [number]), 0.1) for number in NUMBERS]
    for numbers in (NUMBERS, NUMBERS[::-1], [0, 1], [1, 3]):
        found = loss(made, batch(encodings, numbers), 0.1)
        for name in ("total", "nll", "symbols"):
            expected = sum(getattr(alone[number], name).item() for number in numbers)
            assert getattr(found, name).item() == pytest.approx(expected, abs=1e-9)


def test_given_answers_are_read_with_their_copies() -> None:
    made = make("gate", 1)
    targets = [list(one.target) for one in EXAMPLES]
    found = force([made], CODEC, EXAMPLES, targets, 1.0)
    assert [one.prediction.output_tokens for one in found] == targets
    for one, target, example in zip(found, targets, EXAMPLES, strict=True):
        foreign = CODEC.foreign(list(example.source))
        assert np.isfinite(one.following).sum() == len(CODEC.target.vocabulary) + len(foreign)
        copies = dict(one.prediction.copied)
        assert all(t in copies for t, symbol in enumerate(target) if symbol in foreign)
        assert np.isfinite(one.prediction.log_probability)


@every_gate
def test_features_and_borders_are_never_copied(copy: str) -> None:
    """Not even by a model that looks nowhere else and copies all it writes."""
    pairs = [Example("ab", "ba", features="V;PST"), Example("cd", "dc", features="N;SG")]
    codec = Codec.learn(pairs, Side(), Side(), features=True, lowercase=False, copies=True)
    asked_about = [Example("ax", "", features="V;DU"), Example("y", "", features="N;SG")]
    request = Request(Search(longest_ratio=0, longest_extra=6), sampling=True, nbest=40, temperature=3.0)
    found = answer([model(1, codec, std=0.7, copy=copy)], codec, asked_about, request, [0, 1])
    written = {symbol for one in found for each in one.nbest for symbol in each.output_tokens}
    assert {"x", "y"} <= written  # what was never seen in training can be copied
    assert not any(symbol.startswith("+") for symbol in written)
    turns = TurnCodec.learn_turns([Example("a ||| b", "c")], Side(symbols="tokens"), Side(), False, 0, copies=True)
    assert turns.foreign(turns.source_symbols(Example("z ||| a", ""))) == ["z", "a"]
