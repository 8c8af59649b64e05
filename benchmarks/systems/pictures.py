"""Pictures for the pages of docs/, by runs that measure.py has trained.

    python -m benchmarks.systems.pictures --work DIR --out docs [--only respond …]

Texts were written for this, before any run had answered them, and stand in none of the data.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Shown(NamedTuple):
    name: str  # of the picture
    run: str
    text: str
    more: tuple[str, ...] = ()  # further options of `regard show`; runs by their names
    kind: str = ""


GERMAN = "Ein kleiner Hund rennt über eine grüne Wiese ."
TALE = (
    "Once there was a miller who had three sons . The youngest son had nothing but a cat . One day the cat put on a "
    "pair of red boots and went into the forest to catch a rabbit for the king ."
)
OPERATION = (
    "Deletes the specified snapshot of a volume . You can not delete a snapshot that is used by a registered image ."
)

PICTURES = [
    Shown("respond", "respond", "hi there ||| hello, how are you? ||| fine, and you?"),
    Shown("lstmn", "fused-shallow", GERMAN.lower()),
    Shown("biases", "biased-plain", GERMAN, ("--against", "biased-biases")),
    Shown("pointer", "lines-pointer", "a man and a woman are dancing while another man"),
    Shown("summarize", "gists-gate", OPERATION),
    Shown("read", "fairytale-read", TALE, ("--beside", "What did the youngest son have ?")),
    Shown("fill", "fairytale-fill", TALE, ("--beside", "The _____ wore red boots .")),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="as measure.py was given")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[one.name for one in PICTURES])
    options = parser.parse_args()
    runs = options.work / "runs"
    for one in PICTURES:
        if one.name in options.only:
            named = [str(runs / part) if (runs / part).is_dir() else part for part in one.more]
            kind = ["--kind", one.kind] if one.kind else []
            call = ["show", str(runs / one.run), one.text, *named, *kind, "-o", str(options.out / f"{one.name}.svg")]
            subprocess.run([sys.executable, "-m", "regard", *call], check=True)


if __name__ == "__main__":
    main()
