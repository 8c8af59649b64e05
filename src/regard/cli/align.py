"""`regard align`"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.options import DEVICES
from regard.errors import UsageError
from regard.files import write_text

if TYPE_CHECKING:
    from regard.analysis.aer import Measures
    from regard.analysis.align import Looked
    from regard.analysis.linking import Linker
    from regard.data.links import Link

FORMATS = click.Choice(["pharaoh", "talp", "json"])
SYMMETRIES = click.Choice(["intersect", "union", "grow-diag-final-and"])
DRAWN = "1-4"


@click.command(short_help="Link the words of given pairs by attention.")
@click.argument("run")
@click.argument("pairs")
@click.option("--gold", metavar="FILE", help="Links to be measured against, a line a pair.")
@click.option("--gold-format", type=FORMATS, help="By the file's ending, else pharaoh.")
@click.option("--format", "form", type=FORMATS, default="pharaoh", show_default=True, help="How links are printed.")
@click.option(
    "--links",
    "method",
    type=click.Choice(["argmax", "mutual"]),
    default="argmax",
    show_default=True,
    help="Each target word's heaviest source word; or only where both are each other's heaviest.",
)
@click.option("--threshold", type=float, help="Instead: every pair of words with at least this weight.")
@click.option("--reverse", metavar="RUN2", help="A run trained from target to source, to be agreed with.")
@click.option(
    "--symmetrize",
    type=SYMMETRIES,
    help="How both agree; intersect by default. Needs --reverse, or a RUN trained with model.agreement.",
)
@click.option(
    "--level",
    type=click.Choice(["words", "symbols"]),
    help="What is linked: words by default, but symbols where a side is spelt in graphemes.",
)
@click.option("--measures", metavar="FILE", help="Write the measures as JSON. Needs --gold.")
@click.option("-o", "--output", metavar="FILE", help="Draw pairs, gold links outlined: .svg .png .pdf .html .json")
@click.option("--draw", "chosen", default=DRAWN, show_default=True, help="Which pairs -o draws: 2 or 1,5 or 1-4,9.")
@click.option("--device", type=DEVICES, default="auto", show_default=True, help="Where to compute.")
def align(
    run: str,
    pairs: str,
    gold: str | None,
    gold_format: str | None,
    form: str,
    method: str,
    threshold: float | None,
    reverse: str | None,
    symmetrize: str | None,
    level: str | None,
    measures: str | None,
    output: str | None,
    chosen: str,
    device: str,
) -> None:
    """Link the words of PAIRS by where a RUN looks while it writes the given targets; a line of links a pair.

    \b
    Example:
      regard align runs/de-en test.tsv > test.pharaoh
      regard align runs/de-en test.tsv --gold test.gold -o worst.html --draw 3,17
      regard align runs/de-en test.tsv --reverse runs/en-de \\
        --symmetrize grow-diag-final-and
    """
    if measures and not gold:
        raise UsageError("--measures needs links to measure against: add --gold FILE")
    from regard.analysis.align import link, look, measure_shifts, read_pairs
    from regard.data.links import Size, read_links
    from regard.loading import load
    from regard.pictures.saving import ending

    if output:
        ending(output)  # before hours of work
    linker, symmetry = _linker(method, threshold), symmetrize or "intersect"
    loaded = load(run, device=device)
    other = load(reverse, device=device) if reverse else loaded.turned() if symmetrize else None
    if symmetrize and other is None:
        raise UsageError(
            f"--symmetrize {symmetrize} needs two directions: add --reverse with a run target → source, or train with "
            "model.agreement"
        )
    looked = look(loaded, read_pairs(loaded, pairs), level, other)
    sizes = [Size(len(one.source), len(one.target)) for one in looked]
    wanted = read_links(gold, sizes, gold_format) if gold else None
    places = _places(chosen, len(looked)) if output else []
    found = [link(one, linker, symmetry) for one in looked]
    if output:
        _draw(looked, [one.possible for one in wanted] if wanted else found, places, output)
    for one, links in zip(looked, found, strict=True):
        click.echo(_line(one, links, form))
    if wanted is not None:
        _tell(measure_shifts(looked, wanted, linker, symmetry), len(looked), measures)


def _linker(method: str, threshold: float | None) -> "Linker":
    from regard.analysis.linking import LINKERS, Threshold

    return LINKERS[method] if threshold is None else Threshold(threshold)


def _places(chosen: str, count: int) -> list[int]:
    """`1,5-7` → [0, 4, 5, 6]; the default stops at the last pair."""
    places: list[int] = []
    for part in chosen.split(","):
        first, _, last = part.strip().partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()) or not 1 <= int(first) <= int(last or first):
            raise UsageError(f"--draw {chosen}: expected numbers of pairs from 1, such as 2 or 1,5 or 1-4,9")
        if int(last or first) > count and chosen != DRAWN:
            raise UsageError(f"--draw {chosen}: there are only {count:,} pairs")
        places += range(int(first) - 1, min(int(last or first), count))
    return places


def _draw(looked: "list[Looked]", outlined: "list[frozenset[Link]]", places: list[int], path: str) -> None:
    from regard.analysis.align import draw
    from regard.pictures import save

    save([draw(looked[place], outlined[place], f"Pair {place + 1}") for place in places], path)
    click.echo(f"drew {len(places)} pairs: {path}", err=True)


def _line(looked: "Looked", found: "frozenset[Link]", form: str) -> str:
    from regard.data.links import FORMS, Links, Objects

    links = Links.of(found)
    if form != "json":
        return FORMS[form].write(links)
    weights = [[round(float(weight), 6) for weight in row] for row in looked.weights]
    words = {"source": looked.source, "target": looked.target}
    return json.dumps(words | Objects().content(links) | {"weights": weights}, ensure_ascii=False)


def _tell(measured: "Mapping[int, Measures]", pairs: int, path: str | None) -> None:
    """The measures as a table on stderr, and in a file if one is wanted."""
    from regard.analysis.aer import verdict

    names = measured[0]._fields
    rows: list[tuple[str, ...]] = [("shift", *names)]
    rows += [(f"{shift:+d}" if shift else "0", *(_percent(one) for one in measured[shift])) for shift in measured]
    for row in rows:
        click.echo("".join(f"{cell:>{6 if place == 0 else 11}}" for place, cell in enumerate(row)), err=True)
    click.echo(f"({pairs:,} pairs; in %; shift +1: each row is read as that of the next target word)", err=True)
    click.echo(verdict(measured), err=True)
    if path:
        content = {
            "pairs": pairs,
            "shifts": {str(shift): _finite(one) for shift, one in measured.items()},
            "verdict": verdict(measured),
        }
        write_text(Path(path), json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f}"


def _finite(measures: "Measures") -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in measures._asdict().items()}
