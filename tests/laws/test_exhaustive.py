"""A beam as wide as the space finds what trying every string finds, on a real model."""

import itertools
import math

import pytest
import torch

from regard.data.readers import Example
from regard.data.vocabulary import BEGIN, END
from regard.model import EncoderDecoder
from regard.recipe import Search, Side
from regard.tasks.codec import Codec
from regard.tasks.sequence import Request, answer
from tests.tiny import ATTENTIONS, model, padded

SOURCES = [Example("ab", "xyz"), Example("cabac", ""), Example("b", "")]
CODEC = Codec.learn(SOURCES, Side(), Side(), features=False, lowercase=False)
LONGEST, SPACE = 3, 1 + 3 + 9 + 27
STRINGS = ["".join(string) for size in range(LONGEST + 1) for string in itertools.product("xyz", repeat=size)]
SHORT = {"longest_ratio": 0.0, "longest_extra": LONGEST}
LEAST_READ = 1e-4  # the share at which an unread place is counted


def by_brute_force(made: EncoderDecoder, source: str, length: float, coverage: float) -> list[tuple[float, str]]:
    """Every string with its score, best first."""
    tokens = [CODEC.target.vocabulary.encode(string) for string in STRINGS]
    sources = padded(*[CODEC.source.vocabulary.encode(source)] * SPACE)
    decoded = made(sources, padded(*([BEGIN, *one] for one in tokens)).data)
    scored = []
    for string, numbers, logits, weights in zip(STRINGS, tokens, *decoded, strict=True):
        log_probs = logits.log_softmax(-1)
        log_prob = sum(log_probs[t, symbol].item() for t, symbol in enumerate([*numbers, END]))
        read = weights[: len(numbers)].sum(0).tolist()
        unread = sum(math.log(min(max(share, LEAST_READ), 1)) for share in read)
        scored.append((log_prob / (len(numbers) + 1) ** length + coverage * unread, string))
    return sorted(scored, reverse=True)


def asked(made: EncoderDecoder, request: Request) -> list[list[tuple[float, str]]]:
    answers = answer([made], CODEC, SOURCES, request, range(len(SOURCES)))
    return [[(one.score, one.output) for one in first.nbest or [first]] for first in answers]


def same(found: list[tuple[float, str]], expected: list[tuple[float, str]]) -> None:
    assert [string for _, string in found] == [string for _, string in expected]
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected], abs=1e-9)


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize(("length", "coverage"), [(0.0, 0.0), (1.0, 0.0), (0.6, 0.5)])
@torch.no_grad()
def test_a_wide_beam_is_brute_force(attention: str, length: float, coverage: float) -> None:
    """Not the best alone: all strings there are, in their order."""
    made = model(1, CODEC, **ATTENTIONS[attention])
    coverage = coverage if made.attends else 0.0
    search = Search(beam=SPACE, length_penalty=length, coverage_penalty=coverage, **SHORT)
    found = asked(made, Request(search, nbest=SPACE))
    for source, ranked in zip(SOURCES, found, strict=True):
        same(ranked, by_brute_force(made, source.source, length, coverage))


@pytest.mark.parametrize("seed", range(10))
@torch.no_grad()
def test_the_best_alone_is_the_first_of_all(seed: int) -> None:
    """A search for one answer may stop early, but not too early: among the flat scores of small weights that shows."""
    made = model(seed, CODEC, std=0.3)
    for length in (0.0, 0.6, 1.0):
        request = Request(Search(beam=27, length_penalty=length, **SHORT))
        for source, (best,) in zip(SOURCES, asked(made, request), strict=True):
            same([best], by_brute_force(made, source.source, length, 0.0)[:1])


@pytest.mark.parametrize("seed", range(10))
@torch.no_grad()
def test_width_one_is_greedy(seed: int) -> None:
    """The coverage penalty, here next to nothing, sends a width of 1 through the beam. Scores by length let it look on
    after an end that greedy search takes; what it then finds is no worse."""
    made = model(seed, CODEC)
    for length in (0.0, 1.0):
        greedy = asked(made, Request(Search(beam=1, length_penalty=length, **SHORT)))
        beam = asked(made, Request(Search(beam=1, length_penalty=length, coverage_penalty=1e-15, **SHORT)))
        for (one,), (other,) in zip(greedy, beam, strict=True):
            assert other[0] >= one[0] - 1e-12
            if length == 0:
                same([other], [one])


@torch.no_grad()
def test_a_model_that_never_stops_still_answers() -> None:
    made = model(0, CODEC)
    made.decoder.output.O.bias[END] = -1e9
    for beam in (1, 4):
        for answers in asked(made, Request(Search(beam=beam, **SHORT))):
            assert [len(output) for _, output in answers] == [LONGEST]


@pytest.mark.parametrize("attention", ["additive", "monotonic", "coverage", "none"])
@torch.no_grad()
def test_all_answers_together_have_probability_one(attention: str) -> None:
    """Of every string up to the longest, ended or cut off: the model's own sum, with specials forbidden to nobody."""
    made = model(1, CODEC, **ATTENTIONS[attention])
    symbols = padded(CODEC.source.vocabulary.encode("cabac"))
    letters = [number for number in range(len(CODEC.target.vocabulary)) if number != END]
    total = 0.0
    for size in range(3):
        for string in itertools.product(letters, repeat=size):
            log_probs = made(symbols, torch.tensor([[BEGIN, *string]])).logits[0].log_softmax(-1)
            before = sum(log_probs[t, symbol].item() for t, symbol in enumerate(string))
            total += math.exp(before + log_probs[-1, END].item()) if size < 2 else math.exp(before)
    assert total == pytest.approx(1, abs=1e-10)
