"""From energies to weights: masked_softmax and its sparse cousins.

All three keep the same laws. Weights are exactly 0 where the mask is False and sum to 1 over the others.
A row where nothing may be read is all zeros, never NaN, and has no gradient. Energies of ±1e4 are safe.
"""

import torch
from torch import Tensor


def masked_softmax(energy: Tensor, mask: Tensor) -> Tensor:
    """α_j = exp e_j / Σ_i exp e_i over the real places of the last axis; mask is True on real places."""
    lowest = torch.finfo(energy.dtype).min
    return energy.masked_fill(~mask, lowest).softmax(-1) * mask


def masked_sparsemax(energy: Tensor, mask: Tensor) -> Tensor:
    """α_j = max(0, e_j − τ), with τ such that Σ_j α_j = 1       Martins and Astudillo 2016

    If the k best places were read, τ would be (Σ_{i≤k} e_(i) − 1) / k; the k-th is one of them if e_(k) > τ.
    """
    below = _below_best(energy, mask)  # (…, S)
    ranked = below.sort(-1, descending=True).values  # (…, S)
    threshold = (ranked.cumsum(-1) - 1) / _counts(ranked)  # (…, S)  τ if the k best were read
    last = (ranked > threshold).sum(-1, keepdim=True) - 1  # (…, 1)  the last place that is read
    weights = (below - threshold.gather(-1, last)).relu()  # (…, S)
    return weights.to(energy.dtype) * mask


def masked_entmax15(energy: Tensor, mask: Tensor) -> Tensor:
    """α_j = max(0, e_j/2 − τ)², with τ such that Σ_j α_j = 1     Peters, Niculae and Martins 2019, α = 1.5

    If the k best places were read, τ would be m − √((1 − Σ_{i≤k} (z_(i) − m)²) / k), where z = e/2 and m is
    their mean; the k-th is one of them if z_(k) > τ.
    """
    below = _below_best(energy / 2, mask)  # (…, S)
    ranked = below.sort(-1, descending=True).values  # (…, S)
    counts = _counts(ranked)  # (S,)
    mean = ranked.cumsum(-1) / counts  # (…, S)
    spread = (ranked**2).cumsum(-1) / counts - mean**2  # (…, S)
    square = 1 / counts - spread  # (…, S)
    last = (ranked > mean - square.clamp(min=0).sqrt()).sum(-1, keepdim=True) - 1  # (…, 1)
    # Picked before the root is taken: elsewhere the square may be 0, where the root has an infinite gradient.
    threshold = mean.gather(-1, last) - square.gather(-1, last).sqrt()  # (…, 1)
    weights = (below - threshold).relu() ** 2  # (…, S)
    return weights.to(energy.dtype) * mask


def _below_best(energy: Tensor, mask: Tensor) -> Tensor:
    """Energies measured from the best real one, in fp32 at least, since they are summed.

    A place 1 or more below the best gets no weight, so whatever lies below −2, and padding, may be put at −2.
    """
    energy = energy.to(torch.promote_types(energy.dtype, torch.float32))
    lowest = torch.finfo(energy.dtype).min
    best = energy.detach().masked_fill(~mask, lowest).amax(-1, keepdim=True)  # (…, 1)
    return (energy - best).masked_fill(~mask, -2).clamp(min=-2)  # (…, S)


def _counts(ranked: Tensor) -> Tensor:
    return torch.arange(1, ranked.size(-1) + 1, device=ranked.device, dtype=ranked.dtype)  # (S,)  1 … S


NORMALISERS = {"softmax": masked_softmax, "sparsemax": masked_sparsemax, "entmax15": masked_entmax15}
