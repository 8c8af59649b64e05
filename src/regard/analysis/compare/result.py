"""What a comparison found."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from regard.analysis.compare.bootstrap import Versus, correct, resample, versus
from regard.analysis.compare.cost import Cost
from regard.analysis.compare.curves import Curve, learning_curve, shared_metric
from regard.analysis.compare.plan import Plan
from regard.analysis.compare.statistics import STATISTICS
from regard.analysis.compare.trial import Failure, Trial


class Spread(NamedTuple):
    """A metric over seeds."""

    mean: float
    deviation: float | None  # sample standard deviation, over seeds − 1; of one seed there is none
    seeds: dict[int, float]


class Compared(NamedTuple):
    """One recipe."""

    name: str
    folder: Path
    metrics: dict[str, Spread]  # empty where every seed failed
    cost: Cost | None
    versus: Versus | None  # None for the first recipe, and where it or this one failed
    curve: Curve
    failures: list[Failure]


class Comparison(NamedTuple):
    task: str
    metric: str  # the one that is tested
    pairs: str  # name of the pairs it was measured on
    held_out: bool  # False: these pairs also chose the epoch
    examples: int  # different sources among them
    seeds: list[int]
    draws: int
    systems: list[Compared]  # in the order of the call; the others are compared with the first
    signatures: dict[str, str]  # sacreBLEU's, to be quoted
    sentence: str  # whose attention is drawn, empty if nobody's
    folder: Path

    @property
    def failures(self) -> list[tuple[str, Failure]]:
        return [(system.name, failure) for system in self.systems for failure in system.failures]


Trials = dict[str, list[Trial | Failure]]  # by the recipe's name


def summarise(plan: Plan, trials: Trials, metric: str, draws: int, sentence: str, folder: Path) -> Comparison:
    done = {name: [one for one in several if isinstance(one, Trial)] for name, several in trials.items()}
    tests = _tests(plan, list(done.values()), metric, draws)
    logs = {name: [one.epochs for one in several] for name, several in done.items()}
    shown = shared_metric([log for several in logs.values() for log in several], metric)
    systems = [
        Compared(
            system.name,
            system.path,
            _spreads(done[system.name]),
            _cost(done[system.name], len(plan.corpus.questions)),
            test,
            learning_curve(logs[system.name], shown),
            [one for one in trials[system.name] if isinstance(one, Failure)],
        )
        for system, test in zip(plan.systems, tests, strict=True)
    ]
    signatures = {key: value for several in done.values() for one in several for key, value in _signatures(one)}
    corpus = plan.corpus
    return Comparison(
        plan.systems[0].recipe.task,
        metric,
        corpus.name,
        corpus.held_out,
        len(corpus.questions),
        plan.seeds,
        draws,
        systems,
        signatures,
        sentence,
        folder,
    )


def _signatures(trial: Trial) -> list[tuple[str, str]]:
    return list(trial.record.signatures.items())


def _spreads(trials: Sequence[Trial]) -> dict[str, Spread]:
    names = trials[0].record.metrics if trials else {}
    return {name: _spread({one.seed: one.record.metrics[name] for one in trials}) for name in names}


def _spread(seeds: dict[int, float]) -> Spread:
    values = list(seeds.values())
    return Spread(statistics.mean(values), statistics.stdev(values) if len(values) > 1 else None, seeds)


def _cost(trials: Sequence[Trial], examples: int) -> Cost | None:
    if not trials:
        return None
    record = trials[0].record  # sizes and counts do not depend on the seed
    return Cost(
        record.parameters,
        statistics.mean(one.training for one in trials),
        record.weights_per_epoch,
        record.weights_of_test,
        statistics.mean(examples / one.record.seconds for one in trials),
    )


def _tests(plan: Plan, trials: Sequence[Sequence[Trial]], metric: str, draws: int) -> list[Versus | None]:
    """Every recipe against the first."""
    references = [one.references for one in plan.corpus.questions]
    statistic, several = STATISTICS[metric], [one for system in trials for one in system]
    counts = [statistic.counts(plan.task, one.record.outputs, references) for one in several]  # each (n, C)
    drawn = iter(resample(statistic, counts, draws) if counts else [])
    first, *others = [{one.seed: next(drawn) for one in system} for system in trials]
    return correct([None, *(versus(one, first) for one in others)])
