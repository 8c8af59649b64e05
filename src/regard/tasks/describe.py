"""A clip → a sentence that says what happens in it, by attention over its frames (Yao et al. 2015)."""

from collections.abc import Sequence

from regard.metrics import Measured, accuracy, rouge, word_error_rate
from regard.metrics_captions import caption_bleu, cider_d
from regard.tasks.checking import LOOKERS
from regard.tasks.seeing import CODEC, SECTIONS, encode
from regard.tasks.seeing import build_for_clips as build
from regard.tasks.seeing import clip_codec as codec
from regard.tasks.seeing import read_clips as read
from regard.tasks.sequence import answer, batch, force, loss

METRIC = "bleu4"  # what early stopping watches
UNUSED = LOOKERS
RUNNING_TEXT = True  # wer counts edits of words


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """bleu4, rougeL and CIDEr-D as of captions;  wer: edits of words in percent;  accuracy: sentences that are right"""
    scored = caption_bleu(outputs, references)[-1]
    metrics = {"bleu4": round(scored.score, 10), "rougeL": rouge(outputs, references).rougeL}
    metrics |= {"cider_d": cider_d(outputs, references), "wer": word_error_rate(outputs, references)}
    return Measured(metrics | {"accuracy": accuracy(outputs, references)}, {"bleu4": scored.signature})
