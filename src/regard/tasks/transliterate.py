"""Script → script: `namaste` → नमस्ते."""

from collections.abc import Sequence

from regard.data.text import Graphemes
from regard.metrics import Measured, accuracy, symbol_error
from regard.tasks.sequence import CODEC, SECTIONS, UNUSED, answer, batch, build, codec, encode, force, loss, read

METRIC = "accuracy"  # what early stopping watches


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """accuracy: words without any error;  wer: the others;  cer: graphemes to mend, per grapheme of the reference."""
    right = accuracy(outputs, references)
    split = Graphemes().split
    letters = symbol_error(
        [split(output) for output in outputs], [[split(one) for one in several] for several in references]
    )
    return Measured({"accuracy": right, "wer": 100 - right, "cer": letters}, {})
