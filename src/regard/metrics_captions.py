"""How good captions are, as papers on them count: words, lower-cased and without punctuation, against many references.

| name in reports | function       | compares                                                            |
|-----------------|----------------|---------------------------------------------------------------------|
| bleu1 … bleu4   | caption_bleu   | n-grams of the whole corpus, without smoothing; in percent          |
| cider, cider_d  | cider, cider_d | n-grams by how much each says; 0 to 10, and papers print 100 × that |
| meteor          | meteor         | words, stems, synonyms and paraphrases, in English; in percent      |

ROUGE-L is `metrics.rouge` (F1; the COCO server weighs recall more, β = 1.2). METEOR is a program in Java, which takes
seconds to start and much memory: it is measured only where somebody asks for it.
"""

import math
import shutil
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from regard.errors import MissingExtra, RegardError, UsageError
from regard.metrics import Scored, check, corpus_score

if TYPE_CHECKING:  # as in metrics
    from sacrebleu.metrics.bleu import BLEU

ORDERS = range(1, 5)  # n of the n-grams
SIGMA = 6.0  # words by which lengths may differ in CIDEr-D

Gram = tuple[str, ...]


def caption_words(text: str) -> list[str]:
    """Lower-cased words without the punctuation around them."""
    bare = (_strip(word) for word in text.lower().split())
    return [word for word in bare if word]


def _strip(word: str) -> str:
    kept = [place for place, sign in enumerate(word) if unicodedata.category(sign)[0] not in "PS"]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def caption_bleu(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[Scored, ...]:
    """BLEU-1, -2, -3 and -4            Papineni et al. 2002, as sacreBLEU computes it"""
    texts, options = [plain(one) for one in outputs], [[plain(one) for one in several] for several in references]
    return tuple(corpus_score(bleu_of_order(order), texts, options) for order in ORDERS)


def bleu_of_order(order: int) -> "BLEU":
    """For plain captions."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=True, tokenize="none", smooth_method="none", force=True, max_ngram_order=order)


def plain(caption: str) -> str:
    return " ".join(caption_words(caption))


def meteor(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Denkowski and Lavie 2014: version 1.5 of their own program, as the COCO server runs it"""
    check(outputs, references)
    program = check_meteor()()
    written = {place: [plain(one)] for place, one in enumerate(outputs)}
    wanted = {place: [plain(one) for one in several] for place, several in enumerate(references)}
    try:
        return 100 * float(program.compute_score(wanted, written)[0])
    except (OSError, ValueError) as error:
        program.lock.release()  # or it would wait for itself when it is thrown away
        raise RegardError(f"METEOR failed ({error}): does java run, with 2 GB of memory to spare?") from error


def check_meteor() -> Any:
    """The class of the program, if all is there that it needs."""
    try:
        program = import_module("pycocoevalcap.meteor.meteor").Meteor
    except ImportError as error:
        raise MissingExtra("pycocoevalcap", "meteor") from error
    if shutil.which("java") is None:
        raise UsageError("METEOR is a program in Java, and there is no java here: install one, version 8 or later")
    return program


def cider(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """10 · mean of cos(g(c), g(r)) over n = 1 … 4, the references r and the captions c            Vedantam et al. 2015

    g_k = h_k log(|I| / |I_k|): how often the n-gram k stands in the caption, and how few of the sources I have it in a
    reference. Words are not stemmed. A single source has nothing to compare with: log 1 = 0, and so is the score.
    """
    return _consensus(outputs, references, _cosine)


def cider_d(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """The same with Σ_k min(g_k(c), g_k(r)) g_k(r) in place of the product, and times exp(−(|c| − |r|)² / 2σ²) for the
    lengths: to repeat a good word does not pay. As the COCO server counts, h_k is a number and not a share."""
    return _consensus(outputs, references, _clipped)


class Weighed(NamedTuple):
    """A caption in which every n-gram has the weight g_k."""

    vectors: tuple[dict[Gram, float], ...]  # one for each n
    length: int  # in words


def _consensus(
    outputs: Sequence[str], references: Sequence[Sequence[str]], similar: Callable[[Weighed, Weighed], float]
) -> float:
    check(outputs, references)
    wanted = [[caption_words(one) for one in several] for several in references]
    held = Counter(
        chain.from_iterable({gram for one in several for gram in _grams(one)} for several in wanted)
    )  # |I_k|

    def weigh(words: list[str]) -> Weighed:
        rarity = {gram: math.log(len(outputs) / max(held[gram], 1)) for gram in _grams(words)}
        counts = (Counter(gram for gram in _grams(words) if len(gram) == order) for order in ORDERS)
        return Weighed(tuple({gram: h * rarity[gram] for gram, h in one.items()} for one in counts), len(words))

    scores = []
    for output, several in zip(outputs, wanted, strict=True):
        written = weigh(caption_words(output))
        scores.append(np.mean([similar(written, weigh(one)) for one in several]))
    return 10 * float(np.mean(scores))


def _grams(words: list[str]) -> list[Gram]:
    """All n-grams of all n."""
    return [tuple(words[place : place + order]) for order in ORDERS for place in range(len(words) - order + 1)]


def _cosine(output: Weighed, reference: Weighed) -> float:
    return _mean_of_orders(output, reference, lambda c, r: c * r)


def _clipped(output: Weighed, reference: Weighed) -> float:
    unequal = math.exp(-((output.length - reference.length) ** 2) / (2 * SIGMA**2))
    return unequal * _mean_of_orders(output, reference, lambda c, r: min(c, r) * r)


def _mean_of_orders(output: Weighed, reference: Weighed, product: Callable[[float, float], float]) -> float:
    """Σ_k product(g_k(c), g_k(r)) / |g(c)| |g(r)|, the mean over n; 0 where no n-gram of a caption says anything"""
    shares = []
    for c, r in zip(output.vectors, reference.vectors, strict=True):
        size = math.hypot(*c.values()) * math.hypot(*r.values())
        common = sum(product(weight, r[gram]) for gram, weight in c.items() if gram in r)
        shares.append(common / size if size > 0 else 0.0)
    return float(np.mean(shares))
