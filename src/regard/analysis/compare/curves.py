"""How a recipe learnt: its metric on the dev pairs after each epoch, over seeds."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

LOSS = "loss"


class Point(NamedTuple):
    """After one epoch."""

    epoch: int
    mean: float
    low: float  # of the seeds
    high: float
    seeds: int  # how many got that far: some may have stopped early


class Curve(NamedTuple):
    metric: str
    points: list[Point]

    @property
    def together(self) -> int:
        """How many points every seed has; after them the mean is one of fewer seeds."""
        most = max((point.seeds for point in self.points), default=0)
        return sum(point.seeds == most for point in self.points)


Log = Sequence[Mapping[str, Any]]  # the events of log.jsonl


def shared_metric(logs: Sequence[Log], metric: str) -> str:
    """The metric if every training measured it, else the loss: early stopping may watch that alone."""
    evaluations = [event["dev"] for log in logs for event in log if "dev" in event]
    return metric if all(metric in one for one in evaluations) else LOSS


def learning_curve(logs: Sequence[Log], metric: str) -> Curve:
    """One log for each seed."""
    values: dict[int, list[float]] = {}
    for log in logs:
        for event in log:
            if "dev" in event:
                value = event["dev_loss"] if metric == LOSS else event["dev"][metric]
                values.setdefault(event["epoch"], []).append(value)
    points = [
        Point(epoch, statistics.mean(several), min(several), max(several), len(several))
        for epoch, several in sorted(values.items())
    ]
    return Curve(metric, points)
