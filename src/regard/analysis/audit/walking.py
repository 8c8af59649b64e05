"""Forced decoding with everything in sight: at each step, the state before it can be taken up again."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.analysis.audit.altered import Change, altered
from regard.data.batching import Padded
from regard.model import EncoderDecoder
from regard.search.tree import pick

Array = NDArray[np.float64]


class Moment(NamedTuple):
    """One step of a batch."""

    tokens: Tensor  # (B,)  y_{t-1}
    written: Tensor  # (B,)  y_t
    state: Any  # before the step
    log_probs: Tensor  # (B, N)  log p(y_t | y_<t)
    weights: Tensor  # (B, S)  α_t


class Walk(NamedTuple):
    """All steps of given answers."""

    memory: Any
    moments: list[Moment]

    def weights(self) -> Array:
        """(B, T, S)"""
        return array(torch.stack([moment.weights for moment in self.moments], 1))


def steps(model: EncoderDecoder, source: Padded, tokens: Tensor) -> Iterator[tuple[Any, Moment]]:
    """Memory and moment of each step; tokens (B, T + 1) are BEGIN y_1 … y_T, and what comes after an end is padding."""
    state, memory = model.decoder.start(model.encode(source))
    for token, written in zip(tokens[:, :-1].unbind(1), tokens[:, 1:].unbind(1), strict=True):
        step = model.decoder.step(token, state, memory)
        yield memory, Moment(token, written, state, step.logits.log_softmax(-1), step.weights)
        state = step.state


def walk(model: EncoderDecoder, source: Padded, tokens: Tensor) -> Walk:
    memories, moments = zip(*steps(model, source, tokens), strict=True)
    return Walk(memories[0], list(moments))


def again(model: EncoderDecoder, moment: Moment, memory: Any, rows: Tensor, change: Change) -> Array:
    """p(y_t | y_<t) (R, N) if the step is taken by these rows (R,) of the batch with other weights; the steps before
    it stay as they were. The memory (R, …) is picked already."""
    with altered(model, change):
        step = model.decoder.step(moment.tokens[rows], pick(moment.state, rows), memory)
    return np.exp(array(step.logits.log_softmax(-1)))


def array(tensor: Tensor) -> Array:
    numbers: Array = tensor.detach().cpu().numpy()
    return numbers
