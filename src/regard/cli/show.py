"""`regard show`"""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from regard.cli.opening import open_run
from regard.cli.options import DEVICES
from regard.console import Remarks, colour, sources
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.answering import Answerer
    from regard.pictures import Panel
    from regard.prediction import Prediction

KINDS = ["map", "lines", "text", "overlay", "places", "filmstrip", "animation"]  # pictures.sheet has them too
TOGETHER = 4  # of the n best, so many at most stand in a row of their own


class Asked(NamedTuple):
    text: tuple[str, ...]
    features: str
    target: tuple[str, ...]
    beam: int | None
    nbest: int


@click.command(short_help="Draw where answers looked.")
@click.argument("run")
@click.argument("text", nargs=-1, required=True)
@click.option("-o", "--out", help="Picture to write: .svg, .png, .pdf, .gif, .html (interactive) or .json.")
@click.option("--kind", type=click.Choice(KINDS), help="What to draw.  [default: what suits the answer]")
@click.option("--beam", type=int, help="Hypotheses kept side by side; 1 is greedy. The recipe's by default.")
@click.option(
    "--nbest", type=click.IntRange(1), default=1, show_default=True, help="Draw this many answers to each TEXT."
)
@click.option("--against", metavar="RUN2", help="Draw this run's answers beside those of RUN.")
@click.option("--target", multiple=True, help="Draw this given answer instead; one for each TEXT.")
@click.option(
    "--features",
    "--beside",
    "features",
    default="",
    help="What is read beside every TEXT, for tasks that do so: features ('V;PST;3;SG'), a hypothesis, a question.",
)
@click.option("--terminal", is_flag=True, help="Draw in the terminal too; without -o that is what happens.")
@click.option(
    "--width", type=click.IntRange(20, clamp=True), help="Columns of the terminal.  [default: as many as there are]"
)
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
def show(
    run: str,
    text: tuple[str, ...],
    out: str | None,
    kind: str | None,
    beam: int | None,
    nbest: int,
    against: str | None,
    target: tuple[str, ...],
    features: str,
    terminal: bool,
    width: int | None,
    device: str,
) -> None:
    """Answer each TEXT with a trained RUN and draw which source symbols each output symbol looked at.

    A heat map (rows: output, columns: source), lines between the two, as thick as the weights, or the source as a text
    with highlighted words. For a run that looks at pictures or clips, TEXT is the path of one: the picture, lit where
    each word looked (overlay, or animation, which shows word after word), a line of writing with its symbols at their
    places, or a filmstrip. Several answers come on one sheet. RUN is a folder, a hub id, or what export wrote.

    \b
    Example:
      regard show runs/en attention                       in the terminal
      regard show runs/en attention regard -o looks.html  interactive
      regard show runs/fr 'The house is old .' --kind lines -o house.svg
      regard show runs/en attention --against runs/old --beam 5 -o both.png
      regard show runs/en attention --target 'AH T EH N SH AH N' -o given.pdf
      regard show runs/captions garden.jpg -o garden.svg  a picture for each word
      regard show runs/captions garden.jpg -o garden.gif  word after word
      regard show runs/asked garden.jpg --beside 'what is red ?' -o red.png
    """
    from regard.pictures import draw_text, save
    from regard.pictures.saving import ending
    from regard.pictures.sheet import AUTO

    if out:
        ending(out)  # before the work
    if target and (beam is not None or nbest > 1):
        raise UsageError("--target gives the answer: leave --beam and --nbest out")
    if target and len(target) != len(text):
        raise UsageError(f"{len(text)} texts came with {len(target)} targets: give --target once for each TEXT")
    asked = Asked(text, features, target, beam, nbest)
    names = [run, against] if against else [run]
    answers = [_answers(open_run(name, device), asked) for name in names]
    panels = _panels(names, answers)
    remarks = Remarks()
    for answered in answers:
        for found in answered:
            remarks.note(found[0])
    remarks.say()
    if out:
        together = nbest if 1 < nbest <= TOGETHER else len(names) if against else 0
        alone = len(panels) == sum(len(found) for answered in answers for found in answered)  # one panel an answer
        save(panels, out, kind=kind or AUTO, across=together if alone else 0)
        click.echo(f"{out}: {len(panels)} {'panel' if len(panels) == 1 else 'panels'}", err=True)
    if terminal or not out:
        click.echo(draw_text(panels, kind=kind or AUTO, width=width or _columns(), colour=colour()))


def _answers(run: "Answerer", asked: Asked) -> "list[list[Prediction]]":
    """The answers to each text, best first."""
    examples = sources(run, asked.text, None, asked.features).examples
    if asked.target:
        pairs = [replace(one, target=target) for one, target in zip(examples, asked.target, strict=True)]
        found = run.force_examples(pairs)
    else:
        call: dict[str, Any] = run.widened(asked.nbest) if asked.beam is None else {"beam": asked.beam}
        if asked.nbest > 1:
            call = {name: max(asked.nbest, width) for name, width in call.items()} | {"nbest": asked.nbest}
        found = run.answer(examples, **call)
    return [one.nbest or [one] for one in found]


def _panels(names: list[str], answers: "list[list[list[Prediction]]]") -> "list[Panel]":
    """Text by text, run by run, best first; a title says what tells a panel from its neighbours."""
    panels = []
    short = [Path(name).name for name in names]
    shown = short if len(set(short)) == len(names) else names  # runs of a comparison are all called seed-1
    for answered in zip(*answers, strict=True):
        for name, found in zip(shown, answered, strict=True):
            for one in found:
                title = f"{name}: {one.title}" if len(names) > 1 else one.title
                panels += one.panels(f"{title} ({one.score:.2f})" if len(found) > 1 else title)
    return panels


def _columns() -> int:
    """What there is to draw on; 80 where nobody knows."""
    return shutil.get_terminal_size((80, 24)).columns
