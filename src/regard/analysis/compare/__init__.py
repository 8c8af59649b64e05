"""Which of several recipes is better, by how much, at what cost, and may one believe it: `regard compare`.

Read plan, pairs, trial, cost, statistics, bootstrap, curves, result, report; drawing and sentence make the pictures.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from regard.analysis.compare.drawing import draw_curves
from regard.analysis.compare.plan import Plan, make_plan
from regard.analysis.compare.report import markdown, to_json
from regard.analysis.compare.result import Comparison, Trials, summarise
from regard.analysis.compare.sentence import side_by_side
from regard.analysis.compare.statistics import STATISTICS
from regard.analysis.compare.trial import Call, attempt
from regard.errors import UsageError
from regard.files import write_text
from regard.pictures import save
from regard.settings import neighbour, parse_overrides

DRAWS = 1000

Files = str | Path | Sequence[str]


def compare(
    pairs: Files,
    *,
    task: str,
    recipes: Sequence[str],
    out: str | Path,
    seeds: Sequence[int] = (1, 2, 3),
    dev: Files | None = None,
    test: Files | None = None,
    epochs: int | None = None,
    set: Mapping[str, Any] | Sequence[str] = (),
    metric: str | None = None,
    device: str = "auto",
    skip_bad_lines: bool = False,
    progress: bool = True,
    draws: int = DRAWS,
) -> Comparison:
    """Train every recipe with every seed, unless that is done, and compare them with the first.

    A recipe is a name, a YAML file, or either with changes: "luong+model.score=dot". The folder `out` gets the runs
    (RECIPE/seed-N), compare.md, compare.json, curves.svg and attention.svg.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UsageError("compare trains in one process: call it without torchrun")
    overrides = dict(set) if isinstance(set, Mapping) else parse_overrides(set)
    overrides |= {"training.epochs": epochs} if epochs is not None else {}
    folder, files = Path(out), [_path(one) for one in (pairs, dev, test)]
    plan = make_plan(files[0], task, recipes, seeds, folder, files[1], files[2], overrides, skip_bad_lines)
    metric = _metric(plan, metric)
    trials = _trials(plan, Call(files[0], task, files[1], device, skip_bad_lines, progress))
    drawn = side_by_side(plan, list(trials.values()), device)
    comparison = summarise(plan, trials, metric, draws, drawn.sentence if drawn.panels else "", folder)
    write_text(folder / "curves.svg", draw_curves({one.name: one.curve for one in comparison.systems}, title=task))
    if drawn.panels:
        save(drawn.panels, folder / "attention.svg")
    write_text(folder / "compare.json", to_json(comparison))
    write_text(folder / "compare.md", markdown(comparison, ["curves.svg", *["attention.svg"] * bool(drawn.panels)]))
    return comparison


def _trials(plan: Plan, call: Call) -> Trials:
    """Seed by seed, so that a comparison that was stopped has every recipe with as many seeds as possible."""
    trials: Trials = {system.name: [] for system in plan.systems}
    count, total = 0, len(plan.systems) * len(plan.seeds)
    for seed in plan.seeds:
        for system in plan.systems:
            count += 1
            if call.progress:
                click.echo(f"{count} of {total}: {system.name}, seed {seed}", err=True)
            trials[system.name].append(attempt(plan, system, seed, call))
    return trials


def _metric(plan: Plan, wanted: str | None) -> str:
    known = [name for name in plan.task.measure(["a"], [["a"]]).metrics if name in STATISTICS]
    if not known:
        raise UsageError("answers of this task are not compared with references: measure runs with `regard evaluate`")
    if wanted is not None and wanted not in known:
        hint = neighbour(wanted, known) or ";"
        raise UsageError(f"{wanted} is not measured here{hint} there are {', '.join(known)}")
    return wanted or plan.task.METRIC


def _path(given: Any) -> Any:
    return str(given) if isinstance(given, Path) else given
