"""`regard demo`"""

import click

from regard.console import colour
from regard.errors import UsageError

OUT = {"pronounce": "regard-demo", "caption": "regard-demo-caption", "handwriting": "regard-demo-handwriting"}
LANGUAGES = "en,de,fr"


@click.command(short_help="See it all in three minutes.")
@click.argument("name", type=click.Choice(list(OUT)), default="pronounce")
@click.option("--out", help="Folder for the runs and the picture.  [default: regard-demo, or regard-demo-NAME]")
@click.option("--languages", help=f"With caption: languages of the captions, {LANGUAGES} if not given.")
@click.option("--seed", type=int, default=1, show_default=True, help="Everything random follows from it.")
def demo(name: str, out: str | None, languages: str | None, seed: int) -> None:
    """Train small models, with and without attention, and show where they look: under three minutes for
    pronunciation, under five for the others, on two cores.

    pronounce: English spelling to sound, on words inside the package. caption: emoji to their names in several
    languages; needs the extras corpora and pretrained. handwriting: words to text, rendered with fonts of this machine
    and bent; needs the extra pretrained. Nothing is downloaded.

    \b
    Example:
      regard demo
      regard demo caption --languages en,es,tr
      regard demo handwriting
    """
    if languages is not None and name != "caption":
        raise UsageError(f"--languages goes with caption, not with {name}: regard demo caption --languages en,es")
    folder = out or OUT[name]
    if name == "caption":
        from regard.demos.caption import run_caption

        asked = dict.fromkeys(one.strip() for one in (languages or LANGUAGES).split(","))  # each once
        run_caption(folder, seed, list(asked), colour())
    elif name == "handwriting":
        from regard.demos.handwriting import run_handwriting

        run_handwriting(folder, seed, colour())
    else:
        from regard.demos.pronounce import run_demo

        run_demo(folder, seed, colour())
