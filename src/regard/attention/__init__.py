"""The mechanism itself.

In reading order: energies to weights (softmax), queries against keys (score), what is read and written
(memory), what joins the keys (bias), where it may look (window), the attentions (soft, multihead, hierarchical,
monotonic), what stands around one (gate, hard), copying what they look at (pointer), sequences as one vector (pool),
and two sequences that read each other (both, coattention, over).
"""

from regard.attention.bias import (
    TERMS,
    CoverageTerm,
    FertilityTerm,
    LocationTerm,
    MarkovTerm,
    PlaneTerm,
    PositionTerm,
)
from regard.attention.both import BothWays, both_ways
from regard.attention.gate import GatedAttention
from regard.attention.hard import HardAttention
from regard.attention.hierarchical import HierarchicalAttention
from regard.attention.memory import Attended, Encoded, Mechanism, Memory, Trace
from regard.attention.monotonic import MonotonicTransition, Reweighed, reweigh
from regard.attention.multihead import MultiHead
from regard.attention.pointer import mix, sentinel_gate
from regard.attention.pool import (
    POOLS,
    AttentionPool,
    LastPool,
    MaxPool,
    MeanPool,
    Pool,
    Pooled,
    StructuredPool,
    redundancy,
)
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
    "POOLS",
    "SCORES",
    "TERMS",
    "AdditiveScore",
    "Attended",
    "Attention",
    "AttentionPool",
    "BilinearScore",
    "BothWays",
    "CoverageTerm",
    "DotScore",
    "Encoded",
    "FertilityTerm",
    "FixedContext",
    "GatedAttention",
    "HardAttention",
    "HierarchicalAttention",
    "LastPool",
    "LocalWindow",
    "LocationTerm",
    "MLPScore",
    "MarkovTerm",
    "MaxPool",
    "MeanPool",
    "Mechanism",
    "Memory",
    "MonotonicTransition",
    "MultiHead",
    "NoContext",
    "PlaneTerm",
    "Pool",
    "Pooled",
    "PositionTerm",
    "ProjectedScore",
    "Reweighed",
    "ScaledDotScore",
    "Score",
    "StructuredPool",
    "Trace",
    "both_ways",
    "masked_entmax15",
    "masked_softmax",
    "masked_sparsemax",
    "mix",
    "redundancy",
    "reweigh",
    "sentinel_gate",
]
