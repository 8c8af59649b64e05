"""`regard evaluate`"""

import json
from typing import TYPE_CHECKING, Any

import click

from regard.cli.opening import open_run
from regard.cli.options import DEVICES
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.answering import Metric


@click.command(short_help="Measure a trained run on pairs.")
@click.argument("run")
@click.argument("pairs")
@click.option("--beam", type=int, help="Hypotheses kept side by side; the recipe's by default.")
@click.option("--batch-size", type=int, default=64, show_default=True, help="Sources answered at once.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--skip-bad-lines", is_flag=True, help="Leave out lines that cannot be read, and count them.")
@click.option("--meteor", is_flag=True, help="METEOR too, of English answers (regard[meteor], and java).")
@click.option("--json", "as_json", is_flag=True, help="Metrics as one JSON object.")
def evaluate(
    run: str,
    pairs: str,
    beam: int | None,
    batch_size: int,
    device: str,
    skip_bad_lines: bool,
    meteor: bool,
    as_json: bool,
) -> None:
    """Measure a RUN on PAIRS. Several rows with one source are several references; any of them counts.

    \b
    Example:
      regard evaluate runs/hu test.tsv --beam 5 --json
    """
    from regard.tasks import Writer

    loaded = open_run(run, device)
    reading = loaded.task.read(pairs, loaded.recipe, skip_bad_lines)
    if reading.skipped:
        click.echo(f"left out {len(reading.skipped)} bad lines; the first: {reading.skipped[0]}", err=True)
    asked = _meteor(loaded.task.METRIC) if meteor else {}  # before the work
    call = {"batch_size": batch_size} | ({"beam": beam} if beam is not None else {})
    measured, count = loaded.evaluate_counted(reading.examples, asked, **call)
    writes = isinstance(loaded.task, Writer)  # a chosen answer has a probability, but no symbols to share it
    further = {"perplexity": loaded.perplexity(reading.examples)} if writes else {}
    if hasattr(loaded.task, "per_unit"):  # where nothing but perplexity is measured, there is more than one of it
        further |= loaded.task.per_unit(loaded.codec, reading.examples, further["perplexity"])
    if as_json:
        content: dict[str, Any] = {"metrics": measured.metrics, "examples": count, **further}
        if measured.signatures:
            content["signatures"] = measured.signatures
        click.echo(json.dumps(content))
        return
    width = max([12, *(len(name) + 1 for name in further)])
    for name, value in measured.metrics.items():
        click.echo(f"{name:<{width}}{value:8.2f}   {measured.signatures.get(name, '')}".rstrip())
    for name, value in further.items():
        click.echo(f"{name:<{width}}{value:8d}" if isinstance(value, int) else f"{name:<{width}}{value:8.2f}")
    click.echo(f"{'examples':<{width}}{count:8d}")


def _meteor(metric: str) -> "dict[str, Metric]":
    from regard.metrics_captions import check_meteor, meteor

    if metric == "loss":
        raise UsageError("--meteor compares answers with references, and this task has none: leave it out")
    check_meteor()
    return {"meteor": meteor}
