"""`regard compare`"""

import click

from regard.cli.options import DEVICES
from regard.errors import RegardError, UsageError
from regard.tasks import TASKS


@click.command(short_help="Train several recipes with several seeds, and say which is better.")
@click.argument("pairs")
@click.option("--task", required=True, help=f"{', '.join(TASKS[:-1])} or {TASKS[-1]}.")
@click.option("--recipes", help="Names or YAML files, by commas; changes follow a plus. The first is the baseline.")
@click.option("--vary", multiple=True, metavar="KEY=A,B", help="Every recipe with each of these values of an option.")
@click.option("--seeds", default="1,2,3", show_default=True, help="Every recipe is trained with each of them.")
@click.option("-o", "--out", required=True, help="Folder for runs, tables and pictures; a second call goes on there.")
@click.option("--dev", help="Pairs that choose the best weights; without, the same share is held back for all.")
@click.option("--test", help="Pairs to measure on; without, the dev pairs.")
@click.option("--metric", help="Which of the task's metrics is tested and drawn; the task's own by default.")
@click.option("--epochs", type=int, help="Most passes over the pairs.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Change an option of all recipes.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
@click.option("--skip-bad-lines", is_flag=True, help="Leave out lines that cannot be read, and count them.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def compare(
    pairs: str,
    task: str,
    recipes: str | None,
    vary: tuple[str, ...],
    seeds: str,
    out: str,
    dev: str | None,
    test: str | None,
    metric: str | None,
    epochs: int | None,
    settings: tuple[str, ...],
    device: str,
    skip_bad_lines: bool,
    quiet: bool,
) -> None:
    """Train recipes on PAIRS, each with every seed, and compare them with the first.

    Prints mean ± deviation, differences with p by paired bootstrap, and cost; draws learning curves and the
    attention of one sentence under each recipe. What is done is not done again, and a call that was stopped goes on.

    \b
    Example:
      regard compare train.tsv --test test.tsv --task pronounce \\
        --recipes bahdanau,luong,luong+model.heads=4 -o compared
      regard compare train.tsv --task pronounce \\
        --vary model.score=additive,bilinear,dot -o scores
    """
    from regard.analysis.compare import compare as compare_recipes
    from regard.analysis.compare.plan import split_list
    from regard.analysis.compare.plan import vary as varied
    from regard.analysis.compare.report import notes, terminal

    comparison = compare_recipes(
        pairs,
        task=task,
        recipes=varied(split_list(recipes or task), vary),
        seeds=_numbers(seeds),
        out=out,
        dev=dev,
        test=test,
        metric=metric,
        epochs=epochs,
        set=settings,
        device=device,
        skip_bad_lines=skip_bad_lines,
        progress=not quiet,
    )
    click.echo(terminal(comparison))
    for note in notes(comparison):
        click.echo(f"\n{click.wrap_text(note, 80)}")
    click.echo(f"{out}: compare.md, compare.json, curves.svg{', attention.svg' * bool(comparison.sentence)}", err=True)
    if comparison.failures:
        count = len(comparison.failures)
        raise RegardError(f"{count} training{'s' * (count > 1)} failed; the same command tries again")


def _numbers(seeds: str) -> list[int]:
    try:
        return [int(one) for one in seeds.split(",")]
    except ValueError as error:
        raise UsageError(f"--seeds {seeds}: expected numbers by commas, as in --seeds 1,2,3") from error
