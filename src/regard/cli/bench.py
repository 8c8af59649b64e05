"""`regard bench`"""

import json

import click

from regard.console import sources
from regard.errors import UsageError


@click.command(short_help="Measure the speed of this machine, or of a run on it.")
@click.argument("run", required=False)
@click.option("--input", "file", help="With RUN: file with one source a line, or - for stdin.")
@click.option("--seconds", type=click.FloatRange(0.1), default=5.0, show_default=True, help="For each line.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Of torch.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def bench(run: str | None, file: str | None, seconds: float, threads: int, as_json: bool) -> None:
    """Measure training and answering on this machine, by the fast path and by the plain one in turn.

    With a RUN (a folder, a hub id, or what export wrote), only its answers to the lines of --input are measured.

    \b
    Example:
      regard bench
      regard bench runs/hu --input words.txt --seconds 10
    """
    import torch

    from regard.bench import bench as bench_machine
    from regard.bench import bench_run, machine, table

    if run is None and file is not None:
        raise UsageError("--input goes with a RUN: without one the demo's words are used")
    torch.set_num_threads(threads)
    if run is None:
        lines = bench_machine(seconds)
    else:
        from regard.loading import load

        loaded = load(run, device="cpu")
        lines = bench_run(loaded, [one for one in sources(loaded, (), file, "").examples if one.source], seconds)
    if as_json:
        click.echo(json.dumps({"machine": machine(threads), "lines": [one._asdict() for one in lines]}))
        return
    click.echo(machine(threads), err=True)
    click.echo(table(lines))
