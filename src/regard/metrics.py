"""How good outputs are, in percent: thin, over the libraries the field cites.

| name in reports | function                            | compares                                      |
|-----------------|-------------------------------------|-----------------------------------------------|
| accuracy, wer   | accuracy, wer                       | whole outputs (a word each)                   |
| per, cer        | symbol_error                        | phonemes or graphemes                         |
| macro_f1        | macro_f1                            | whole outputs, class by class                 |
| –               | word_error_rate                     | words of running text                         |
| crr, wrr        | crr, wrr                            | the same: 100 − CER, 100 − WER                |
| exprate, …      | expression_rate                     | whole outputs, but for a few symbols          |
| bleu, chrf, ter | bleu, chrf, ter                     | finished text, never subwords or split words  |
| rouge1/2/L      | rouge                               | words of finished text, case and marks apart  |
| distinct1, …    | distinct                            | outputs with each other                       |
| em, f1          | exact_match, word_f1                | answers in words, as SQuAD counts them        |

Every output may have several references, and not all equally many; `references[i]` belong to `outputs[i]`.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from regard.errors import DataError

if TYPE_CHECKING:  # these libraries come when something is measured: an answer would wait for them in vain
    from sacrebleu.metrics.base import Metric


class Scored(NamedTuple):
    score: float
    signature: str  # sacreBLEU's: how the score was computed, to be quoted with it


LOWER_IS_BETTER = frozenset({"wer", "per", "cer", "ter"})


class Measured(NamedTuple):
    """What a task reports."""

    metrics: dict[str, float]  # in percent, by the field's names
    signatures: dict[str, str]  # sacreBLEU's, by metric


def accuracy(outputs: Sequence[object], references: Sequence[Sequence[object]]) -> float:
    """Share of outputs that equal one of their references."""
    check(outputs, references)
    right = sum(output in options for output, options in zip(outputs, references, strict=True))
    return 100 * right / len(outputs)


def wer(outputs: Sequence[object], references: Sequence[Sequence[object]]) -> float:
    """Share of wrong words, when an output is one word: 100 − accuracy."""
    return 100 - accuracy(outputs, references)


def macro_f1(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """F1 = 2 right / (given + wanted) of each class that is given or wanted, and the mean over these classes."""
    check(outputs, references)
    wanted = wanted_classes(outputs, references)
    given, due = Counter(outputs), Counter(wanted)
    right = Counter(output for output, one in zip(outputs, wanted, strict=True) if output == one)
    classes = set(given) | set(due)
    return 100 * sum(2 * right[one] / (given[one] + due[one]) for one in classes) / len(classes)


def wanted_classes(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[str]:
    """Of several references the one that was given, or else the first."""
    return [output if output in several else several[0] for output, several in zip(outputs, references, strict=True)]


class Edits(NamedTuple):
    edits: int
    length: int  # of the reference


def symbol_error(outputs: Sequence[Sequence[Hashable]], references: Sequence[Sequence[Sequence[Hashable]]]) -> float:
    """Σ edits / Σ length of the reference, each reference being the one with the least edits / length."""
    check(outputs, references)
    counted = [nearest(output, options) for output, options in zip(outputs, references, strict=True)]
    return 100 * sum(one.edits for one in counted) / max(sum(one.length for one in counted), 1)


def nearest(output: Sequence[Hashable], references: Sequence[Sequence[Hashable]]) -> Edits:
    """To the reference with the least edits per symbol."""
    from rapidfuzz.distance import Levenshtein

    counted = [Edits(Levenshtein.distance(output, one), len(one)) for one in references]
    return min(counted, key=lambda one: one.edits / max(one.length, 1))


def word_error_rate(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """The same over the words of running text, which white space separates."""
    return symbol_error(
        [output.split() for output in outputs], [[text.split() for text in options] for options in references]
    )


def crr(outputs: Sequence[Sequence[Hashable]], references: Sequence[Sequence[Sequence[Hashable]]]) -> float:
    """Character recognition rate, 100 − CER; less than 0 where there are more errors than symbols."""
    return 100 - symbol_error(outputs, references)


def wrr(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Word recognition rate of running text, 100 − WER."""
    return 100 - word_error_rate(outputs, references)


def expression_rate(
    outputs: Sequence[Sequence[Hashable]], references: Sequence[Sequence[Sequence[Hashable]]], errors: int = 0
) -> float:
    """Share of outputs that are a reference but for at most so many edits: ExpRate, and its ≤ 1 and ≤ 2 kin"""
    from rapidfuzz.distance import Levenshtein

    check(outputs, references)
    pairs = zip(outputs, references, strict=True)
    right = sum(min(Levenshtein.distance(output, one) for one in options) <= errors for output, options in pairs)
    return 100 * right / len(outputs)


def exact_match(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Share of answers with the same words as one of their references            Rajpurkar et al. 2016"""
    return accuracy(
        [answer_words(one) for one in outputs], [[answer_words(one) for one in many] for many in references]
    )


def word_f1(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """2 · shared / (words of the output + words of the reference), with the best reference; the mean over outputs"""
    check(outputs, references)
    pairs = zip(outputs, references, strict=True)
    return 100 * sum(max(_answer_f1(output, one) for one in options) for output, options in pairs) / len(outputs)


def _answer_f1(output: str, reference: str) -> float:
    ours, theirs = answer_words(output), answer_words(reference)
    if not ours or not theirs:
        return float(ours == theirs)
    return _f1((Counter(ours) & Counter(theirs)).total(), len(ours), len(theirs))


def answer_words(text: str) -> list[str]:
    """Lower-cased, without punctuation, then without a, an and the."""
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def bleu(outputs: Sequence[str], references: Sequence[Sequence[str]], lowercase: bool = False) -> Scored:
    """Papineni et al. 2002, as sacreBLEU computes it (Post 2018)."""
    from sacrebleu.metrics.bleu import BLEU

    return corpus_score(BLEU(lowercase=lowercase), outputs, references)


def chrf(outputs: Sequence[str], references: Sequence[Sequence[str]], lowercase: bool = False) -> Scored:
    """Popović 2015: F2 of character n-grams."""
    from sacrebleu.metrics.chrf import CHRF

    return corpus_score(CHRF(lowercase=lowercase), outputs, references)


def ter(outputs: Sequence[str], references: Sequence[Sequence[str]], lowercase: bool = False) -> Scored:
    """Snover et al. 2006: edits and shifts per reference word; lower is better."""
    from sacrebleu.metrics.ter import TER

    return corpus_score(TER(case_sensitive=not lowercase), outputs, references)


class Rouge(NamedTuple):
    """F1 of single words, of pairs of neighbours, and of the longest common subsequence, in percent."""

    rouge1: float
    rouge2: float
    rougeL: float  # as everybody writes it


def rouge(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Rouge:
    """Lin 2004, F1 for each output (of several references, the best) and their mean over the outputs; words are runs of
    letters with their marks and of digits, lower-cased, and are not stemmed."""
    check(outputs, references)
    texts = [[_rouge_words(one) for one in several] for several in references]
    words = [_rouge_words(output) for output in outputs]
    found = [
        [max(kind(output, one) for one in several) for kind in (_rouge_1, _rouge_2, _rouge_l)]
        for output, several in zip(words, texts, strict=True)
    ]
    return Rouge(*(100 * sum(column) / len(found) for column in zip(*found, strict=True)))


def _rouge_words(text: str) -> list[str]:
    kept = (one if unicodedata.category(one)[0] in "LMN" else " " for one in text.lower())
    return "".join(kept).split()


def _rouge_1(output: Sequence[str], reference: Sequence[str]) -> float:
    return _f1((Counter(output) & Counter(reference)).total(), len(output), len(reference))


def _rouge_2(output: Sequence[str], reference: Sequence[str]) -> float:
    pairs = [Counter(pairwise(words)) for words in (output, reference)]
    return _f1((pairs[0] & pairs[1]).total(), pairs[0].total(), pairs[1].total())


def _rouge_l(output: Sequence[str], reference: Sequence[str]) -> float:
    from rapidfuzz.distance import LCSseq

    return _f1(LCSseq.similarity(output, reference), len(output), len(reference))


def _f1(common: int, written: int, wanted: int) -> float:
    return 2 * common / max(written + wanted, 1)  # the harmonic mean of common / written and common / wanted


def distinct(outputs: Sequence[Sequence[Hashable]], count: int) -> float:
    """Share of different n-grams among all n-grams of the outputs, n = count            Li et al. 2016"""
    grams = [tuple(one[place : place + count]) for one in outputs for place in range(len(one) - count + 1)]
    return 100 * len(set(grams)) / max(len(grams), 1)


def corpus_score(metric: "Metric", outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Scored:
    check(outputs, references)
    streams = list(
        zip_longest(*references)
    )  # sacreBLEU wants the first references, the second …; None where there is none
    score = metric.corpus_score(outputs, streams)
    return Scored(float(score.score), str(metric.get_signature()))


def check(outputs: Sequence[object], references: Sequence[Sequence[object]]) -> None:
    if not outputs:
        raise DataError("there is nothing to measure: no outputs")
    if len(outputs) != len(references):
        raise DataError(f"found {len(outputs)} outputs for {len(references)} lists of references")
    if not all(references):
        raise DataError(f"output {list(map(bool, references)).index(False) + 1} has no reference")
