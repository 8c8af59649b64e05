"""The mechanism itself.

In reading order: energies to weights (softmax), queries against keys (score), what is read and written
(memory), what joins the keys (bias), where it may look (window), the attentions (soft, multihead, monotonic).
"""

from regard.attention.bias import TERMS, CoverageTerm, LocationTerm
from regard.attention.memory import Attended, Encoded, Mechanism, Memory, Trace
from regard.attention.monotonic import MonotonicTransition, Reweighed, reweigh
from regard.attention.multihead import MultiHead
from regard.attention.score import (
    SCORES,
    AdditiveScore,
    BilinearScore,
    DotScore,
    MLPScore,
    ProjectedScore,
    ScaledDotScore,
    Score,
)
from regard.attention.soft import Attention, FixedContext, NoContext
from regard.attention.softmax import NORMALISERS, masked_entmax15, masked_softmax, masked_sparsemax
from regard.attention.window import LocalWindow

__all__ = [
    "NORMALISERS",
    "SCORES",
    "TERMS",
    "AdditiveScore",
    "Attended",
    "Attention",
    "BilinearScore",
    "CoverageTerm",
    "DotScore",
    "Encoded",
    "FixedContext",
    "LocalWindow",
    "LocationTerm",
    "MLPScore",
    "Mechanism",
    "Memory",
    "MonotonicTransition",
    "MultiHead",
    "NoContext",
    "ProjectedScore",
    "Reweighed",
    "ScaledDotScore",
    "Score",
    "Trace",
    "masked_entmax15",
    "masked_softmax",
    "masked_sparsemax",
    "reweigh",
]
