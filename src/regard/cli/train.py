"""`regard train`"""

import os

import click

from regard.cli.options import DEVICES
from regard.tasks import TASKS


@click.command(short_help="Train on pairs of texts.")
@click.argument("pairs")
@click.option("--task", required=True, help=f"{', '.join(TASKS[:-1])} or {TASKS[-1]}.")
@click.option("--out", required=True, help="Folder for the run; it must be new, or --resume.")
@click.option("--dev", help="Pairs that choose the best weights; without, a share of the sources is held back.")
@click.option("--recipe", help="A name that `regard recipes` lists, or a YAML file; the task's own by default.")
@click.option("--embeddings", metavar="FILE", help="Word vectors for the source: a text file (.gz), or glove.")
@click.option("--embeddings-target", metavar="FILE", help="The same for the target.")
@click.option("--alignments", metavar="FILE", help="Word links (0-0 1-2), a line a pair, that attention learns from.")
@click.option("--epochs", type=int, help="Most passes over the pairs.")
@click.option("--seed", type=int, help="Everything random follows from it.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change an option of the recipe.")
@click.option("--resume", is_flag=True, help="Go on where an earlier call with the same options stopped.")
@click.option("--skip-bad-lines", is_flag=True, help="Leave out lines that cannot be read, and count them.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def train(
    pairs: str,
    task: str,
    out: str,
    dev: str | None,
    recipe: str | None,
    embeddings: str | None,
    embeddings_target: str | None,
    alignments: str | None,
    epochs: int | None,
    seed: int | None,
    device: str,
    settings: tuple[str, ...],
    resume: bool,
    skip_bad_lines: bool,
    quiet: bool,
) -> None:
    """Train on PAIRS: a file (TSV, CSV, JSONL, .gz), two parallel files as A,B, - for stdin, or hf:DATASET.

    \b
    Example:
      regard train words.tsv --task pronounce --out runs/hu --set model.hidden=256
      torchrun --nproc-per-node 2 -m regard train words.tsv --task pronounce \\
        --dev dev.tsv --out runs/hu
    """
    from regard.training import train as train_run

    run = train_run(
        pairs,
        task=task,
        out=out,
        dev=dev,
        recipe=recipe,
        embeddings=embeddings,
        embeddings_target=embeddings_target,
        epochs=epochs,
        seed=seed,
        device=device,
        set=settings,
        resume=resume,
        skip_bad_lines=skip_bad_lines,
        progress=not quiet,
        alignments=alignments,
    )
    if os.environ.get("RANK", "0") == "0":
        click.echo(f"{run.path}: {_numbers(run.dev_metrics())} on the dev pairs", err=True)
        click.echo(f"next: regard predict {run.path} …", err=True)


def _numbers(metrics: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in metrics.items())
