"""A picture → a sentence that says what is to be seen (Xu et al. 2015)."""

from collections.abc import Sequence

from regard.metrics import Measured, rouge
from regard.metrics_captions import caption_bleu, cider, cider_d
from regard.tasks.checking import LOOKERS
from regard.tasks.seeing import CODEC, SECTIONS, build, codec, encode, read
from regard.tasks.sequence import answer, batch, force, loss

METRIC = "bleu4"  # what early stopping watches
UNUSED = LOOKERS


def measure(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:
    """bleu1 … bleu4 of all captions together, rougeL, and CIDEr and CIDEr-D times 10, against all references"""
    scored = caption_bleu(outputs, references)
    metrics = {f"bleu{order}": round(one.score, 10) for order, one in enumerate(scored, 1)}
    metrics |= {"rougeL": rouge(outputs, references).rougeL}
    metrics |= {"cider": cider(outputs, references), "cider_d": cider_d(outputs, references)}
    return Measured(metrics, {"bleu4": scored[-1].signature})
