"""A metric as numbers that add up over examples, so that a resampled corpus is measured by one sum.

| metric        | counted for each example                                            | score of the sums       |
|---------------|---------------------------------------------------------------------|-------------------------|
| accuracy      | right, 1                                                            | 100 right/n             |
| wer           | wrong, 1; of running text edits of words, words                     | 100 wrong/n             |
| per, cer      | edits to the nearest reference, its length; crr, wrr what is left   | 100 edits/length        |
| rouge, em, f1 | the example's own score, 1; exprate alike                           | their mean              |
| macro_f1      | right, given and wanted, of each class                              | mean of 100 F1          |
| bleu          | length, reference's length, n-grams matched and written (n = 1 … 4) | sacreBLEU's own         |
| chrf          | character n-grams written, in the reference, matched (n = 1 … 6)    | sacreBLEU's own         |
| ter           | edits, mean length of the references                                | sacreBLEU's own         |

The score of the sums over all examples is what the task's `measure` reports.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from regard.data.text import Graphemes
from regard.metrics import nearest, wanted_classes
from regard.metrics_captions import bleu_of_order, plain
from regard.tasks import Task

Counts = NDArray[np.float64]  # (n, C)  a row for each example
Outputs = Sequence[str]
References = Sequence[Sequence[str]]


class Statistic(NamedTuple):
    counts: Callable[[Task, Outputs, References], Counts]
    score: Callable[[Counts], NDArray[np.float64]]  # (…, C) sums -> (…)  in percent


def _own(name: str) -> Callable[[Task, Outputs, References], Counts]:
    """Of a metric that is the mean of the examples' own."""

    def counts(task: Task, outputs: Outputs, references: References) -> Counts:
        both = zip(outputs, references, strict=True)
        return np.array([[task.measure([one], [several]).metrics[name] / 100, 1.0] for one, several in both])  # (n, 2)

    return counts


def _edits(split: Callable[[str], list[str]]) -> Callable[[Task, Outputs, References], Counts]:
    def counts(_task: Task, outputs: Outputs, references: References) -> Counts:
        both = zip(outputs, references, strict=True)
        return np.array([nearest(split(one), list(map(split, several))) for one, several in both], np.float64)  # (n, 2)

    return counts


def _ratio(sums: Counts) -> NDArray[np.float64]:
    ratio: NDArray[np.float64] = 100 * sums[..., 0] / np.maximum(sums[..., 1], 1)
    return ratio


def _complement(sums: Counts) -> NDArray[np.float64]:
    return 100 - _ratio(sums)


def _wrong(task: Task, outputs: Outputs, references: References) -> Counts:
    """Wrong words of lists of words, edits of words of running text."""
    if getattr(task, "RUNNING_TEXT", False):
        return _edits(str.split)(task, outputs, references)
    counts = _own("accuracy")(task, outputs, references)
    counts[:, 0] = 1 - counts[:, 0]
    return counts


def _classes(_task: Task, outputs: Outputs, references: References) -> Counts:
    """For each class: right, given, wanted."""
    wanted = wanted_classes(outputs, references)
    classes = np.array(sorted({*outputs, *wanted}))  # (K,)
    given, due = (np.array(one)[:, None] == classes for one in (outputs, wanted))  # (n, K) each
    return np.stack([given & due, given, due], -1).reshape(len(wanted), -1).astype(np.float64)  # (n, 3K)


def _mean_f1(sums: Counts) -> NDArray[np.float64]:
    right, given, due = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, 3), -1, 0)  # (…, K) each
    f1 = 200 * right / np.maximum(given + due, 1)
    mean: NDArray[np.float64] = f1.sum(-1) / np.maximum((given + due > 0).sum(-1), 1)
    return mean


def _sacrebleu(metric: Metric) -> Statistic:
    """sacreBLEU's own paired bootstrap works on these statistics too."""

    def counts(_task: Task, outputs: Outputs, references: References) -> Counts:
        streams = list(zip_longest(*references))
        return np.array(metric._extract_corpus_statistics(outputs, streams), dtype=np.float64)  # (n, C)

    def score(sums: Counts) -> NDArray[np.float64]:
        rows = sums.reshape(-1, sums.shape[-1]).tolist()
        return np.array([metric._compute_score_from_stats(row).score for row in rows]).reshape(sums.shape[:-1])

    return Statistic(counts, score)


def _captions(order: int) -> Statistic:
    """BLEU of captions without their punctuation."""
    counts, score = _sacrebleu(bleu_of_order(order))

    def plainly(task: Task, outputs: Outputs, references: References) -> Counts:
        return counts(task, [plain(one) for one in outputs], [[plain(one) for one in many] for many in references])

    return Statistic(plainly, score)


STATISTICS = {
    "accuracy": Statistic(_own("accuracy"), _ratio),  # right or not is the task's to say
    "wer": Statistic(_wrong, _ratio),
    **{name: Statistic(_own(name), _ratio) for name in ("rouge1", "rouge2", "rougeL", "em", "f1")},
    **{name: Statistic(_own(name), _ratio) for name in ("exprate", "exprate1", "exprate2")},
    "macro_f1": Statistic(_classes, _mean_f1),
    "per": Statistic(_edits(str.split), _ratio),
    "cer": Statistic(_edits(Graphemes().split), _ratio),
    "crr": Statistic(_edits(Graphemes().split), _complement),
    "wrr": Statistic(_edits(str.split), _complement),
    "bleu": _sacrebleu(BLEU()),
    "chrf": _sacrebleu(CHRF()),
    "ter": _sacrebleu(TER()),
    **{f"bleu{order}": _captions(order) for order in range(1, 5)},
}
