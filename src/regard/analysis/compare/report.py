"""A comparison in words and tables: for a terminal of 80 columns, as Markdown, as JSON."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from regard.analysis.compare.bootstrap import Versus
from regard.analysis.compare.result import Compared, Comparison, Spread
from regard.metrics import LOWER_IS_BETTER
from regard.pictures.labels import cells

WIDTH = 80
LEVEL = 0.05
ENOUGH = 5  # seeds; K of them show about (K − 1)/K of the variance of training


class Table(NamedTuple):
    head: list[str]  # the first column has the recipes' names; a heading may have two lines
    rows: list[list[str]]


def tables(comparison: Comparison) -> list[Table]:
    several = [_quality(comparison), _significance(comparison), _cost(comparison)]
    return [table for table in several if table.rows]


def _quality(comparison: Comparison) -> Table:
    names = list(next((one.metrics for one in comparison.systems if one.metrics), {}))
    rows = [[one.name, *_spreads(one, names)] for one in comparison.systems]
    return Table(["recipe", *names], rows)


def _spreads(system: Compared, names: Sequence[str]) -> list[str]:
    if not system.metrics:
        return ["failed", *[""] * (len(names) - 1)]
    return [_spread(system.metrics[name]) for name in names]


def _spread(spread: Spread) -> str:
    return f"{spread.mean:.2f}" + (f" ± {spread.deviation:.2f}" if spread.deviation is not None else "")


def _significance(comparison: Comparison) -> Table:
    first = comparison.systems[0].name
    head = [f"{comparison.metric}, minus that of {first}", "difference", "95 % of draws", "p", "Holm's p"]
    rows = [[one.name, *_tested(one.versus)] for one in comparison.systems if one.versus]
    return Table(head, rows)


def _tested(test: Versus) -> list[str]:
    star = " *" if test.holm < LEVEL else "  "
    return [f"{test.difference:+.2f}", f"{test.low:+.2f} … {test.high:+.2f}", f"{test.p:.3f}", f"{test.holm:.3f}{star}"]


def _cost(comparison: Comparison) -> Table:
    head = ["cost", "para-\nmeters", "training\nseconds", "S·T per\nepoch", "S·T of\ntest", "answers\nper second"]
    rows = [
        [
            one.name,
            f"{one.cost.parameters:,}",
            f"{one.cost.training:,.1f}",
            f"{one.cost.weights_per_epoch:,}",
            f"{one.cost.weights_of_test:,}",
            f"{one.cost.answers:,.0f}",
        ]
        for one in comparison.systems
        if one.cost
    ]
    return Table(head, rows)


def notes(comparison: Comparison) -> list[str]:
    """What a reader of the tables must know."""
    said = [_measured(comparison), *_compared(comparison)]
    if any(one.cost for one in comparison.systems):
        said.append(
            "Cost: training is the mean over seeds, with all dev evaluations but the last; S·T counts the attention "
            "weights, one for each source place and decoder step of each pair, 0 without "
            "attention; answers by each recipe's search."
        )
    if comparison.sentence:
        said.append(
            f"attention.svg: {comparison.sentence}, the reference read by the first run of each recipe that attends; "
            "it is the first pair whose source has the median length."
        )
    said += [f"{name}, seed {one.seed}, failed: {one.reason}" for name, one in comparison.failures]
    said += [f"{name}: {signature}" for name, signature in comparison.signatures.items()]
    return said


def _measured(comparison: Comparison) -> str:
    count = len(comparison.seeds)
    spread = "mean ± deviation over" if count > 1 else "with"
    seeds = f"{count} {'seeds' if count > 1 else 'seed'} ({', '.join(map(str, comparison.seeds))})"
    where = f"{comparison.pairs}: {comparison.examples:,} sources, {spread} {seeds}."
    if comparison.held_out:
        return where
    return f"{where} These pairs also chose each run's best epoch, so all numbers are a little too good: give --test."


def _compared(comparison: Comparison) -> list[str]:
    tests = [one.versus for one in comparison.systems if one.versus]
    if not tests:
        return []
    way = "lower" if comparison.metric in LOWER_IS_BETTER else "higher"
    said = [
        f"Difference in {comparison.metric} ({way} is better), paired bootstrap: {comparison.draws:,} draws of "
        f"{'examples and seeds' if max(one.seeds for one in tests) > 1 else 'examples'}, two-sided p; Holm's p is "
        f"corrected for {len(tests)} {'comparisons' if len(tests) > 1 else 'comparison'}; * is below {LEVEL}."
    ]
    least = min(one.seeds for one in tests)
    if least == 1:
        said.append(
            "With one seed, p speaks of these trained models alone, not of their recipes: another seed may turn the "
            "order round."
        )
    elif least < ENOUGH:
        said.append(f"{least} seeds show less than all of the chance in training: p is somewhat too small.")
    return said


def terminal(comparison: Comparison) -> str:
    """Tables with their names and numbers in columns, without colour."""
    return "\n\n".join(_plain(table) for table in tables(comparison))


def _plain(table: Table) -> str:
    """Names that leave no room for the numbers stand on a line of their own."""
    lines = [*_head(table.head), *table.rows]
    widths = [max(cells(line[column]) for line in lines) + 2 for column in range(1, len(table.head))]
    room = min(WIDTH - sum(widths), max(cells(line[0]) for line in lines))
    return "\n".join(_line(line, room, widths) for line in lines)


def _head(head: Sequence[str]) -> list[list[str]]:
    """Headings of two lines as two rows; the others stand in the lower one."""
    upper = [one.rpartition("\n")[0] for one in head]
    lower = [one.rpartition("\n")[2] for one in head]
    return [upper, lower] if any(upper) else [lower]


def _line(line: Sequence[str], room: int, widths: Sequence[int]) -> str:
    name, *values = line
    start = name + " " * (room - cells(name)) if cells(name) <= room else f"{name}\n{' ' * room}"
    numbers = "".join(" " * (width - cells(value)) + value for value, width in zip(values, widths, strict=True))
    return f"{start}{numbers}".rstrip()


def markdown(comparison: Comparison, pictures: Sequence[str]) -> str:
    parts = [f"# {comparison.task}: {', '.join(_safe(one.name) for one in comparison.systems)}"]
    parts += [_markdown(table) for table in tables(comparison)]
    parts.append("\n".join(f"- {_safe(one)}" for one in notes(comparison)))
    parts += [f"![{name.removesuffix('.svg')}]({name})" for name in pictures]
    return "\n\n".join(parts) + "\n"


def _markdown(table: Table) -> str:
    rule = ["---", *["---:"] * (len(table.head) - 1)]
    return "\n".join("| " + " | ".join(map(_safe, line)) + " |" for line in [table.head, rule, *table.rows])


def _safe(text: str) -> str:
    """Words of data and names of files are no markup, and hyphens at the end of a heading's line are none."""
    for sign, shown in (("-\n", ""), ("\n", " "), ("&", "&amp;"), ("<", "&lt;"), ("|", "\\|"), ("*", "\\*")):
        text = text.replace(sign, shown)
    return text.strip()


def to_json(comparison: Comparison) -> str:
    return json.dumps(_plain_values(comparison), indent=2, ensure_ascii=False) + "\n"


def _plain_values(value: Any) -> Any:
    """Named tuples become objects, paths texts."""
    if hasattr(value, "_asdict"):
        return {key: _plain_values(one) for key, one in value._asdict().items()}
    if isinstance(value, dict):
        return {str(key): _plain_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_values(one) for one in value]
    return value if isinstance(value, str | int | float | None) else str(value)
