"""`regard demo`"""

import click

from regard.console import colour


@click.command(short_help="See it all in three minutes.")
@click.option("--out", default="regard-demo", show_default=True, help="Folder for the runs and the picture.")
@click.option("--seed", type=int, default=1, show_default=True, help="Everything random follows from it.")
def demo(out: str, seed: int) -> None:
    """Train a small English pronunciation model, with and without attention, and show where it looks.

    \b
    Example:
      regard demo
    """
    from regard.demos.pronounce import run_demo

    run_demo(out, seed, colour())
