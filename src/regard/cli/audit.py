"""`regard audit`"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from regard.cli.options import DEVICES, SEEDS
from regard.errors import UsageError


@click.command(short_help="Tell whether a run's attention can be believed.")
@click.argument("run")
@click.argument("pairs")
@click.option("-o", "--out", help="HTML file for the whole report, with the best and worst examples drawn.")
@click.option("--with", "others", multiple=True, metavar="RUN", help="A run with another seed; do both look alike?")
@click.option(
    "--targets",
    type=click.Choice(["own", "given"]),
    default="own",
    show_default=True,
    help="Explain the run's own answers, or the targets of the pairs.",
)
@click.option("--examples", "most", type=click.IntRange(1), default=200, show_default=True, help="Sources, at most.")
@click.option("--draws", type=click.IntRange(1), default=5, show_default=True, help="Shuffles of each step's weights.")
@click.option("--seed", type=SEEDS, default=1, show_default=True, help="Chooses sources and shuffles.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--skip-bad-lines", is_flag=True, help="Leave out lines that cannot be read, and count them.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
def audit(
    run: str,
    pairs: str,
    out: str | None,
    others: tuple[str, ...],
    targets: str,
    most: int,
    draws: int,
    seed: int,
    device: str,
    skip_bad_lines: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Tell whether the attention of a RUN can be believed on PAIRS: do its weights show what its answers depend on?

    Erases weights and source symbols, compares with gradients, shuffles and flattens the weights, looks for a shift by
    one place. docs/audit.md explains every number. The exit code is 0 whatever the verdict.

    \b
    Example:
      regard audit runs/en test.tsv -o report.html
      regard audit runs/en test.tsv --with runs/seed2 --with runs/seed3 --json
    """
    from regard.analysis.audit import audit as audit_run
    from regard.analysis.audit.auditing import check_run
    from regard.analysis.audit.report import report
    from regard.analysis.audit.summary import summary
    from regard.files import write_text
    from regard.loading import load

    if out is not None and Path(out).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{out}: the report is HTML; give it a name that ends in .html")
    if out is not None and not Path(out).parent.is_dir():  # before the work, not after it
        raise UsageError(f"there is no folder {Path(out).parent} to write {out} into: make it first")
    loaded = check_run(load(run, device=device))
    further = [load(other, device=device) for other in others]
    reading = loaded.task.read(pairs, loaded.recipe, skip_bad_lines)
    if reading.skipped:
        click.echo(f"left out {len(reading.skipped)} bad lines; the first: {reading.skipped[0]}", err=True)
    found = audit_run(
        loaded,
        reading.examples,
        others=further,
        given=targets == "given",
        most=most,
        draws=draws,
        seed=seed,
        follow=lambda evidence, count: _bar(evidence, count, quiet),
    )
    if out is not None:
        write_text(Path(out), report(found))
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False) if as_json else summary(found))
    what = f"{found.findings.examples:,} sources, {found.findings.symbols:,} output symbols ({targets} answers)"
    click.echo(f"{what}{f'; {out}' if out else ''}", err=True)


def _bar(evidence: Iterable[Any], count: int, quiet: bool) -> Iterable[Any]:
    import sys

    from tqdm import tqdm

    return tqdm(evidence, total=count, disable=quiet or None, file=sys.stderr, unit="source", leave=False)
