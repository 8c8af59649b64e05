"""What training makes small."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.data.batching import Padded
from regard.data.vocabulary import PAD
from regard.fast.cross_entropy import linear_cross_entropy
from regard.fast.switch import allowed


class Loss(NamedTuple):
    """Sums over real symbols, so that a batch split over processes or steps adds up to the same number."""

    total: Tensor  # scalar: what is minimised
    nll: Tensor  # scalar: −Σ log p(y_t | y_<t, x), without smoothing; exp(nll / symbols) is the perplexity
    symbols: Tensor  # scalar: how many


def cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Loss:
    """−Σ_t [(1 − ε) log p(y_t) + ε mean_n log p(n)] over real symbols            Szegedy et al. 2016 for ε > 0

    With log p(n) = z_n − log Σ_m exp z_m, only sums over the symbols are needed, never a table of all log p.
    """
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))  # (B, T, N)
    real = targets != PAD  # (B, T)
    normaliser = logits.logsumexp(-1)  # (B, T)
    wanted = logits.gather(-1, targets[:, :, None])[:, :, 0]  # (B, T)
    nll = ((normaliser - wanted) * real).sum()
    total = nll
    if smoothing > 0:
        total = (1 - smoothing) * nll + smoothing * ((normaliser - logits.mean(-1)) * real).sum()
    return Loss(total, nll.detach(), real.sum())


def sequence_log_probs(logits: Tensor, targets: Tensor) -> Tensor:
    """log p(y | x) = Σ_t log p(y_t) over real symbols, of each sequence: (B, T, N), (B, T) -> (B,)"""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    wanted = logits.gather(-1, targets[:, :, None])[:, :, 0]  # (B, T)
    return ((wanted - logits.logsumexp(-1)) * (targets != PAD)).sum(1)


def class_cross_entropy(logits: Tensor, labels: Tensor, smoothing: float = 0.0) -> Loss:
    """The same for one choice (B, N) an example; a label of −1 is none of the classes, and does not count."""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))  # (B, N)
    nll, total = (
        nn.functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum", label_smoothing=share)
        for share in (0.0, smoothing)
    )
    return Loss(total, nll.detach(), (labels >= 0).sum())


class Wanted(NamedTuple):
    """What a model should have written, for a loss inside the model."""

    targets: Tensor  # (B, T)
    smoothing: float
    links: Tensor | None = None  # (B, T, S)  1 where target symbol t is known to come from source symbol j
    source: Padded | None = None  # what was read, for an aside that goes the other way


class Told(NamedTuple):
    loss: Loss
    weights: Tensor | None  # (B, T, S), sure to be there if somebody looks


def readout_cross_entropy(readouts: Tensor, output: nn.Linear, wanted: Wanted) -> Loss:
    """cross_entropy(output(readouts), …) for readouts (B, T, R), without ever holding all logits, where that may be"""
    if not allowed(readouts):
        return cross_entropy(output(readouts), wanted.targets, wanted.smoothing)
    targets = wanted.targets
    if not readouts.is_contiguous():  # a loop made them step by step
        readouts, targets = readouts.transpose(0, 1), targets.t()
    targets = targets.flatten()
    flat = (readouts.flatten(0, 1), output.weight, output.bias, targets, PAD, wanted.smoothing)
    return Loss(*linear_cross_entropy(*flat))


def supervised_attention(weights: Tensor, given: Tensor, kind: str = "cross-entropy") -> Tensor:
    """λ-less L(α_true, α_pred), summed over the target places that have a given alignment.

    cross-entropy: −Σ_tj g_tj log α_tj;   squared: Σ_tj (g_tj − α_tj)²            Mi et al. 2016; Liu et al. 2016
    `given` (B, T, S) is brought to rows that sum to 1; rows without any link say nothing and cost nothing.
    """
    linked = given.sum(-1, keepdim=True)  # (B, T, 1)
    wanted = given / linked.where(linked > 0, 1)  # (B, T, S)
    if kind == "squared":
        return ((wanted - weights) ** 2 * (linked > 0)).sum()
    return -(wanted * weights.clamp(min=1e-8).log()).sum()  # 1e-8: a link the model gives no weight costs 18, not ∞
