"""Sentence → sentence in another language."""

from collections.abc import Sequence

from regard.metrics import Measured, bleu, chrf, ter
from regard.tasks.sequence import CODEC, SECTIONS, UNUSED, answer, batch, build, codec, encode, force, loss, read

METRIC = "bleu"  # what early stopping watches


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """sacreBLEU's BLEU, chrF and TER on text as people read it, with the signatures to quote."""
    scored = {
        "bleu": bleu(outputs, references),
        "chrf": chrf(outputs, references),
        "ter": ter(outputs, references),
    }
    return Measured(
        {name: round(one.score, 10) for name, one in scored.items()},  # a sum may come to 100.00000000000004
        {name: one.signature for name, one in scored.items()},
    )
