"""`regard`, the command that all others belong to."""

import click

from regard import __version__
from regard.cli.align import align
from regard.cli.audit import audit
from regard.cli.bench import bench
from regard.cli.compare import compare
from regard.cli.data import data
from regard.cli.demo import demo
from regard.cli.evaluate import evaluate
from regard.cli.export import export
from regard.cli.predict import predict
from regard.cli.recipes import recipes
from regard.cli.serve import serve
from regard.cli.show import show
from regard.cli.train import train

COMMANDS = (train, predict, evaluate, show, serve, align, audit, compare, export, bench, recipes, data, demo)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
@click.option("--debug", is_flag=True, expose_value=False, help="Show where an error happened; goes with any command.")
def cli() -> None:
    """Encoder–decoder models with attention: train on pairs, answer, measure, and see where each answer looked.

    \b
    Begin with:
      regard demo                           a pronunciation model in three minutes
      regard demo caption                   emoji to their names, in five
      regard train pairs.tsv --task pronounce --out runs/en
      regard predict runs/en attention --beam 5
    """


for command in COMMANDS:
    cli.add_command(command)
