"""A text → its gist in a few words."""

from collections.abc import Sequence

from regard.metrics import Measured, rouge
from regard.tasks.sequence import CODEC, SECTIONS, UNUSED, answer, batch, build, codec, encode, force, loss, read

METRIC = "rougeL"  # what early stopping watches


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """rouge1, rouge2, rougeL: F1 of words, of pairs of words and of the longest common subsequence, in percent."""
    return Measured(rouge(outputs, references)._asdict(), {})
