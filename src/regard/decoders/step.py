"""One step of a decoder, and all of them: what goes in, what comes out."""

from typing import Any, NamedTuple

from torch import Tensor

from regard.attention.memory import Trace
from regard.decoders.start import Layers
from regard.dropout import Noise


class Step(NamedTuple):
    """One symbol further."""

    logits: Tensor  # (B, N)
    state: Any  # a tree of batch-first tensors, so that search can pick rows
    weights: Tensor  # (B, S)


class Decoded(NamedTuple):
    """All steps of given targets."""

    logits: Tensor  # (B, T, N)
    weights: Tensor  # (B, T, S)


class State(NamedTuple):
    """What a recurrent decoder takes from one step to the next."""

    layers: Layers  # the cells' states, each (B, H)
    feed: Tensor | None  # (B, R)  last readout, under input feeding
    trace: Trace | None  # past weights, for attentions that look back
    noise: Noise  # the masks of variational dropout
    past: Tensor | None = None  # (B,)  after a quick step: its row; rows that share it have the same layers
