"""The attention of one sentence under each recipe, side by side."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from regard.analysis.compare.pairs import Corpus
from regard.analysis.compare.plan import Plan
from regard.analysis.compare.trial import Failure, Trial
from regard.data.readers import Example
from regard.pictures.panel import Panel
from regard.run import load


class SideBySide(NamedTuple):
    sentence: str
    panels: list[Panel]  # of the recipes that attend


def side_by_side(plan: Plan, trials: Sequence[Sequence[Trial | Failure]], device: str) -> SideBySide:
    """Each recipe's first run reads the reference by forced decoding, so that all have the same rows; where nothing is
    written, it gives its own answer."""
    example = choose(plan.corpus)
    panels = []
    for system, several in zip(plan.systems, trials, strict=True):
        done = [one.seed for one in several if isinstance(one, Trial)]
        if done:
            run = load(system.run(done[0]).path, device=device)
            (given,) = run.force_examples([example]) if run.writes else run.answer([example])
            if given.attention is not None:
                rows, title = given.attention_rows or given.output_tokens, f"{system.name}, seed {done[0]}"
                panels.append(Panel(given.attention, rows, given.source_tokens, title))
    return SideBySide(f"{example.source} → {example.target}", panels)


def choose(corpus: Corpus) -> Example:
    """The first test pair whose source has the median length: a rule, so that nobody picks the prettiest."""
    lengths = [len(example.source) for example in corpus.test]
    return corpus.test[lengths.index(statistics.median_low(lengths))]
