"""Exact hard monotonic attention: each symbol is written from one hidden place, and places never move back.

p(a_t = j | a_{t-1} = i, y_<t) = softmax over real places j ≥ i of e_tj + b_{j−i}       Wu and Cotterell 2019

The places are summed out exactly, as a filter that runs beside the decoder:

    prior_t(j)     = Σ_i posterior_{t-1}(i) p(a_t = j | a_{t-1} = i, y_<t)      MonotonicTransition
    p(y_t | y_<t)  = Σ_j prior_t(j) p(y_t | a_t = j, y_<t)                      reweigh: log_evidence
    posterior_t(j) = prior_t(j) p(y_t | a_t = j, y_<t) / p(y_t | y_<t)          reweigh: posterior

so log p(y | x) is the sum of the log_evidence over the steps.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.memory import Encoded, Memory
from regard.attention.score import Score
from regard.attention.softmax import masked_softmax
from regard.errors import UsageError


class MonotonicTransition(nn.Module):
    """From where the last symbol was written to where the next may be; longer jumps share the last bias."""

    def __init__(self, score: Score, longest_jump: int):
        super().__init__()
        if longest_jump < 0:
            raise UsageError(f"the longest jump is {longest_jump} places; it must be 0 or more")
        self.score = score
        self.longest_jump = longest_jump
        self.jump_bias = nn.Parameter(torch.zeros(longest_jump + 1))  # b_0 … b_longest

    def remember(self, encoded: Encoded) -> Memory:
        keys = self.score.prepare(self.score.keys(encoded.values))  # (B, S, A)
        return Memory(encoded.values, keys, encoded.mask)

    def begin(self, memory: Memory) -> Tensor:
        """The posterior before the first symbol: all mass on the first real place."""
        first = memory.mask & (memory.mask.cumsum(-1) == 1)  # (B, S)
        return first.to(memory.values.dtype)

    def forward(self, query: Tensor, memory: Memory, posterior: Tensor) -> Tensor:
        """query (B, Q), posterior (B, S) of the step before -> prior (B, S)"""
        energy = self.score(query[:, None], memory.keys)  # (B, 1, S)
        places = memory.mask.cumsum(-1)  # (B, S)  1 … S on real places
        jump = places[:, None] - places[:, :, None]  # (B, S, S)  j − i
        bias = self.jump_bias[jump.clamp(0, self.longest_jump)]  # (B, S, S)
        readable = (jump >= 0) & memory.mask[:, None]  # (B, S, S)
        transition = masked_softmax(energy + bias, readable)  # (B, S, S)  rows i, columns j
        prior = posterior[:, None] @ transition  # (B, 1, S)
        return prior[:, 0]


class Reweighed(NamedTuple):
    """What a symbol tells about the place it was written from."""

    posterior: Tensor  # (B, S)
    log_evidence: Tensor  # (B,)


def reweigh(prior: Tensor, log_likelihood: Tensor) -> Reweighed:
    """prior (B, S) and log p(y_t | a_t = j) (B, S) -> posterior_t and log p(y_t | y_<t)

    Places whose prior is 0 stay at 0 and send back no gradient, whatever their likelihood.
    """
    # Below the smallest normal number 1/prior, the gradient of the logarithm, would overflow.
    possible = prior >= torch.finfo(prior.dtype).tiny  # (B, S)
    log_prior = prior.masked_fill(~possible, 1).log()  # (B, S)
    lowest = torch.finfo(log_likelihood.dtype).min
    joint = (log_prior + log_likelihood).masked_fill(~possible, lowest)  # (B, S)
    return Reweighed(masked_softmax(joint, possible), joint.logsumexp(-1))
