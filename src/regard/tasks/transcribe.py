"""A picture of writing → its text: handwriting, print, formulas (Anjum and Khan 2021; Zhang et al. 2017)."""

from collections.abc import Sequence

from regard.data.text import Graphemes
from regard.metrics import Measured, accuracy, expression_rate, symbol_error, word_error_rate
from regard.tasks.checking import LOOKERS
from regard.tasks.seeing import CODEC, SECTIONS, build, codec, encode, read
from regard.tasks.sequence import answer, batch, force, loss

METRIC = "cer"  # what early stopping watches
UNUSED = LOOKERS
RUNNING_TEXT = True  # wer counts edits of words


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """cer, wer: edits of characters and of words in percent, over 100 if there are more than that; crr and wrr what is
    left to 100;  exprate, exprate1, exprate2: lines that are right, or right but for one word or two"""
    split = Graphemes().split
    cut = [split(one) for one in outputs], [[split(one) for one in many] for many in references]
    words = [one.split() for one in outputs], [[one.split() for one in many] for many in references]
    cer, wer = symbol_error(*cut), word_error_rate(outputs, references)
    rates = {"exprate": expression_rate(*words), "accuracy": accuracy(outputs, references)}
    rates |= {f"exprate{most}": expression_rate(*words, most) for most in (1, 2)}
    return Measured({"cer": cer, "wer": wer, "crr": 100 - cer, "wrr": 100 - wer, **rates}, {})
