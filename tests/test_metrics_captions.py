"""Measures of captions, by numbers worked out by hand."""

import math
import shutil
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sacrebleu

from regard.errors import DataError, MissingExtra, RegardError, UsageError
from regard.metrics_captions import caption_bleu, caption_words, check_meteor, cider, cider_d, meteor

OUTPUTS = ["A man rides a horse.", "two dogs play", "a cat"]
REFERENCES = [
    ["A man is riding a horse.", "A man rides a brown horse!"],
    ["Two dogs are playing", "two dogs play in the snow", "Dogs, at play."],
    ["the cat sleeps", "a cat on a mat"],
]


def test_words_have_no_case_and_no_punctuation_around_them() -> None:
    assert caption_words('  A  "dog\'s" T-shirt , (red).') == ["a", "dog's", "t-shirt", "red"]
    assert caption_words("… — !") == []
    assert caption_words("घोड़ा दौड़ता है।") == ["घोड़ा", "दौड़ता", "है"]  # vowel signs belong to their words


def test_bleu_by_hand() -> None:
    """5 words, 4, 3 and 2 of them right as 1-, 2-, 3- and 4-grams of 5, 4, 3 and 2: x at the end is wrong."""
    found = caption_bleu(["a b c d x"], [["A b, c d e.", "q"]])
    precisions = [4 / 5, 3 / 4, 2 / 3, 1 / 2]
    for order, one in enumerate(found, 1):
        assert one.score == pytest.approx(100 * math.prod(precisions[:order]) ** (1 / order))
        assert "tok:none|smooth:none" in one.signature
        assert "case:lc" in one.signature


def test_bleu_is_short_of_the_nearest_reference_and_not_smoothed() -> None:
    short = caption_bleu(["a b"], [["a b c", "a b c d e f"]])  # exp(1 − 3/2), and no 3-gram at all
    assert [one.score for one in short] == pytest.approx([100 * math.exp(-0.5)] * 2 + [0, 0])


def test_bleu_4_is_sacrebleus_own() -> None:
    texts, streams = (["a man rides a horse", "two dogs play"], [["a man rides a horse", "two dogs play here"]])
    measure = sacrebleu.BLEU(tokenize="none", smooth_method="none", force=True)
    expected = measure.corpus_score(texts, streams).score
    assert caption_bleu(texts, [[one] for one in streams[0]])[3].score == pytest.approx(expected)


def test_cider_by_hand() -> None:
    """Two sources. "a" stands in references of both (log 2/2 = 0), every other word in one of them (log 2)."""
    outputs, references = ["a b b", "a c"], [["a b"], ["a c d"]]
    # first: words b: 2 log 2 against log 2, one direction: cosine 1. Pairs: ab, bb against ab: bb is in no reference,
    # |I_k| counts as 1: 1/√2. No longer n-gram in the reference: 0, 0.
    # second: c against c, d: 1/√2. Pairs: ac against ac, cd: 1/√2. Triples: none written: 0, 0.
    first, second = (1 + 1 / math.sqrt(2)) / 4, (2 / math.sqrt(2)) / 4
    assert cider(outputs, references) == pytest.approx(10 * (first + second) / 2)


def test_cider_d_by_hand() -> None:
    """Repeats are cut: min(2, 1) · 1 / (2 · 1) for b, and lengths differ by one word, exp(−1/72)."""
    outputs, references = ["a b b", "a c"], [["a b"], ["a c d"]]
    first, second = (1 / 2 + 1 / math.sqrt(2)) / 4, (2 / math.sqrt(2)) / 4
    assert cider_d(outputs, references) == pytest.approx(10 * math.exp(-1 / 72) * (first + second) / 2)


def in_vectors(outputs: list[str], references: list[list[str]], clip: bool) -> float:
    """The same by vectors over all n-grams, in NumPy."""
    texts = [caption_words(one) for one in outputs]
    options = [[caption_words(one) for one in several] for several in references]
    scores = []
    for order in range(1, 5):

        def grams(words: list[str], order: int = order) -> list[tuple[str, ...]]:
            return [tuple(words[i : i + order]) for i in range(len(words) - order + 1)]

        space = sorted({g for words in [*texts, *(one for s in options for one in s)] for g in grams(words)})
        held = np.array([sum(any(g in grams(one) for one in several) for several in options) for g in space])
        rarity = np.log(len(texts)) - np.log(np.maximum(held, 1))
        scores.append([])
        for text, several in zip(texts, options, strict=True):
            c, found = np.array([grams(text).count(g) for g in space]) * rarity, []
            for one in several:
                r = np.array([grams(one).count(g) for g in space]) * rarity
                size = np.linalg.norm(c) * np.linalg.norm(r)
                value = (np.minimum(c, r) @ r if clip else c @ r) / size if size > 0 else 0.0
                found.append(value * (np.exp(-((len(text) - len(one)) ** 2) / 72) if clip else 1))
            scores[-1].append(np.mean(found))
    return 10 * float(np.mean(scores))


def test_both_equal_a_loop_over_vectors() -> None:
    assert cider(OUTPUTS, REFERENCES) == pytest.approx(in_vectors(OUTPUTS, REFERENCES, clip=False))
    assert cider_d(OUTPUTS, REFERENCES) == pytest.approx(in_vectors(OUTPUTS, REFERENCES, clip=True))
    assert 0 < cider_d(OUTPUTS, REFERENCES) < cider(OUTPUTS, REFERENCES) < 10


@pytest.mark.parametrize("measure", [cider, cider_d])
def test_a_perfect_caption_has_ten_and_a_foreign_one_nothing(measure: Any) -> None:
    texts = ["a man rides a horse", "two dogs play here", "the cat sleeps well"]
    assert measure(texts, [[one] for one in texts]) == pytest.approx(10)
    assert measure(texts, [[one] for one in texts[1:] + texts[:1]]) == 0
    assert measure(texts[:1], [texts[:1]]) == 0  # one source alone says nothing
    assert measure(["", "b"], [["a"], ["b"]]) == pytest.approx(10 / 4 / 2)


@pytest.mark.parametrize("measure", [caption_bleu, cider, cider_d])
def test_what_cannot_be_measured(measure: Any) -> None:
    with pytest.raises(DataError, match="nothing to measure"):
        measure([], [])
    with pytest.raises(DataError, match="output 2 has no reference"):
        measure(["a", "b"], [["a"], []])


# METEOR, whose program is not here: what is said to it, and what becomes of its answer


class Program:
    """As pycocoevalcap's Meteor, which keeps its lock when something fails and waits for it when it is thrown away."""

    said: Any = None
    works = True

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def compute_score(self, wanted: dict[int, list[str]], written: dict[int, list[str]]) -> tuple[float, list[float]]:
        self.lock.acquire()
        Program.said = wanted, written
        score = float("0.25" if self.works else b"")  # java that dies writes nothing
        self.lock.release()
        return score, []


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> type[Program]:
    for name in ("pycocoevalcap", "pycocoevalcap.meteor"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "pycocoevalcap.meteor.meteor", SimpleNamespace(Meteor=Program))
    monkeypatch.setattr(shutil, "which", lambda _: "java")
    monkeypatch.setattr(Program, "works", True)
    return Program


def test_meteor_is_asked_about_plain_captions_and_told_in_percent(program: type[Program]) -> None:
    assert meteor(OUTPUTS[:2], REFERENCES[:2]) == pytest.approx(25)
    wanted, written = program.said
    assert written == {0: ["a man rides a horse"], 1: ["two dogs play"]}
    assert wanted[1] == ["two dogs are playing", "two dogs play in the snow", "dogs at play"]


def test_meteor_that_fails_is_an_error_and_keeps_no_lock(
    program: type[Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    locks: list[threading.Lock] = []
    monkeypatch.setattr(program, "works", False)
    monkeypatch.setattr(program, "__del__", lambda self: locks.append(self.lock), raising=False)
    with pytest.raises(RegardError, match="METEOR"):
        meteor(OUTPUTS, REFERENCES)
    assert locks
    assert not locks[0].locked()


def test_meteor_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch, program: type[Program]) -> None:
    check_meteor()
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UsageError, match="java"):
        check_meteor()
    monkeypatch.setitem(sys.modules, "pycocoevalcap.meteor.meteor", None)
    with pytest.raises(MissingExtra, match=r"regard\[meteor\]"):
        check_meteor()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # its pipes are left to be collected
def test_meteor_itself() -> None:
    """Where it is installed: 100 for the same words in the same order, and stems and synonyms count."""
    try:
        check_meteor()
    except UsageError as error:
        pytest.skip(str(error))
    texts = ["a man is riding a horse", "a man rides a horse", "two dogs"]
    same, stems, other = (meteor([text], [["A man is riding a horse."]]) for text in texts)
    assert same == pytest.approx(100)
    assert other < 20 < stems < 100
