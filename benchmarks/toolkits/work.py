"""How much work an epoch is, and how much the machine can do: matrix products only.

Counted are the products that each toolkit's model needs, over true symbols (END counted, padding not), whether the
toolkit does more than needed or not: yoyodyne, for one, multiplies every key anew at every step. Backward is twice
forward.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from toolkits.corpus import read
from toolkits.sizes import Size

SPECIAL = 4  # padding, unknown, BEGIN, END


class Corpus(NamedTuple):
    """Counts over the training pairs, with END on the target side."""

    pairs: int
    sources: int  # symbols
    targets: int
    cells: int  # Σ source length × target length: attention's energies
    vocabulary: int  # of the target

    @classmethod
    def of(cls, folder: Path) -> "Corpus":
        sources, targets = read(folder / "train.src"), read(folder / "train.trg")
        lengths = [(len(source), len(target) + 1) for source, target in zip(sources, targets, strict=True)]
        symbols = {symbol for target in targets for symbol in target}
        return cls(
            len(lengths),
            sum(source for source, _ in lengths),
            sum(target for _, target in lengths),
            sum(source * target for source, target in lengths),
            len(symbols) + SPECIAL,
        )


def epoch_flops(toolkit: str, size: Size, corpus: Corpus) -> float:
    """Floating-point operations of one training epoch."""
    hidden, embed, deeper = size.hidden, size.embed, size.layers - 1
    if toolkit == "pymarian":
        values = 2 * hidden
        encoder = 2 * (_lstm(embed, hidden) + deeper * _lstm(hidden, hidden))
        decoder = _lstm(embed, hidden) + _lstm(values, hidden) + deeper * _lstm(hidden, hidden)
        output = (hidden + values + embed) * embed + embed * corpus.vocabulary
    else:
        values = hidden
        encoder = 2 * (_lstm(embed, hidden // 2) + deeper * _lstm(hidden, hidden // 2))
        decoder = _lstm(embed + values, hidden) + deeper * _lstm(hidden, hidden)
        readout = 0 if toolkit == "yoyodyne" else (hidden + values) * hidden
        output = readout + hidden * corpus.vocabulary
    per_source = encoder + values * hidden  # with the key
    per_target = decoder + hidden * hidden + output  # with the query
    per_cell = hidden + values  # energy and context
    products = corpus.sources * per_source + corpus.targets * per_target + corpus.cells * per_cell
    return 2.0 * 3.0 * products


def _lstm(inputs: int, hidden: int) -> int:
    """Multiplications of one cell at one step."""
    return 4 * hidden * (inputs + hidden)


def peak_flops(environment: dict[str, str]) -> float:
    """Operations per second of a large fp32 matrix product, in a process of its own."""
    command = [sys.executable, "-m", "toolkits.product"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return max(map(float, json.loads(done.stdout).values()))
