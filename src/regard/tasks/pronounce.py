"""Grapheme → phoneme: `attention` → AH T EH N SH AH N."""

from collections.abc import Sequence

from regard.metrics import Measured, accuracy, symbol_error
from regard.tasks.sequence import CODEC, SECTIONS, UNUSED, answer, batch, build, codec, encode, force, loss, read

METRIC = "wer"  # what early stopping watches


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """wer: share of words with any error;  per: phonemes to mend, per phoneme of the closest reference."""
    phonemes = [output.split() for output in outputs]
    wanted = [[one.split() for one in several] for several in references]
    right = accuracy(phonemes, wanted)  # by phonemes: the blanks between them may be of any kind
    return Measured({"wer": 100 - right, "per": symbol_error(phonemes, wanted), "accuracy": right}, {})
