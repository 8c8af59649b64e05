"""Measures of captions, by numbers worked out by hand."""

import math
from typing import Any

import numpy as np
import pytest
import sacrebleu

from regard.errors import DataError
from regard.metrics_captions import caption_bleu, caption_words, cider, cider_d

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
