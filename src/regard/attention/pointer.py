"""Writing by pointing: a symbol is drawn from the vocabulary, or copied from a place that attention looks at.

p(y) = g p_vocabulary(y) + (1 − g) Σ_{j: x_j = y} α_j            See et al. 2017, eq. 9; Merity et al. 2016, eq. 4

The gate g is given by its log odds, log g/(1 − g), so that neither g nor 1 − g is ever rounded to 0. A symbol that
stands in the source but not in the vocabulary has a number beyond it, N + k, and only the pointer can write it.
"""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid


def mix(log_probs: Tensor, weights: Tensor, numbers: Tensor, gate: Tensor, beyond: int = 0) -> Tensor:
    """log p_vocabulary (…, N), α (…, S), the symbols x (…, S) of the places, log odds of g (…) -> log p (…, N + beyond)

    Places without weight may have any number of the vocabulary, as padding has. Of the numbers beyond the vocabulary,
    those that no place holds have log p = −∞; those that are held have not, even where their weight is rounded to 0,
    since a loss must be a number.
    """
    exact = torch.promote_types(log_probs.dtype, torch.float32)
    log_probs, weights, gate = log_probs.to(exact), weights.to(exact), gate.to(exact)
    symbols, numbers = log_probs.size(-1), numbers.expand_as(weights)
    copied = weights.new_zeros(*weights.shape[:-1], symbols + beyond).scatter_add(-1, numbers, weights)  # (…, N + X)
    known = mixed(log_probs, copied[..., :symbols], gate[..., None])  # (…, N)
    if beyond == 0:
        return known
    held = torch.zeros_like(copied, dtype=torch.bool).scatter(-1, numbers, True)[..., symbols:]  # (…, X)
    others = log_copied(copied[..., symbols:], gate[..., None]).masked_fill(~held, -torch.inf)  # (…, X)
    return torch.cat([known, others], -1)


def pointed(weights: Tensor, numbers: Tensor, symbols: Tensor) -> Tensor:
    """Σ_{j: x_j = y} α_j of some symbols alone: α (B, T, S), x (B, S), y (B, T) -> (B, T)"""
    return (weights * (numbers[:, None] == symbols[:, :, None])).sum(-1)


def mixed(log_probs: Tensor, copied: Tensor, gate: Tensor) -> Tensor:
    """log [g p + (1 − g) c] from log p, c ≥ 0 and the log odds of g, all of one shape"""
    written = logsigmoid(gate) + log_probs
    points = copied >= torch.finfo(copied.dtype).tiny
    return torch.where(points, torch.logaddexp(written, log_copied(copied, gate)), written)


def log_copied(copied: Tensor, gate: Tensor) -> Tensor:
    """log [(1 − g) c], where c = 0 counts as the smallest number, which has no gradient"""
    return logsigmoid(-gate) + copied.clamp(min=torch.finfo(copied.dtype).tiny).log()


def sentinel_gate(sentinel: Tensor, energy: Tensor, mask: Tensor) -> Tensor:
    """The gate as one more place of the softmax, e_0 = sentinel (…) beside e_j (…, S): its weight is g, and so

    log g/(1 − g) = e_0 − log Σ_j exp e_j,   α_j / (1 − g) = softmax_j e_j            Merity et al. 2016, eq. 5–7

    which is what `mix` takes: the weights of real places, as if there were no sentinel, and the log odds of g.
    """
    lowest = torch.finfo(energy.dtype).min
    return sentinel - energy.masked_fill(~mask, lowest).logsumexp(-1)  # (…)
