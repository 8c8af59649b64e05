"""What may be written: the length, symbols never written, n-grams never repeated, and a forced start."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.errors import RegardError, UsageError

IMPOSSIBLE = -1e4
"""log p of a forced symbol that the model holds impossible: with −∞ the answer would break off there."""


@dataclass(frozen=True)
class Limits:
    """What an answer may look like. Lengths count symbols, without BEGIN and END.

    A forced start is written even if it holds forbidden symbols, repeats itself or is longer than `longest`.
    """

    longest: Sequence[int] | Tensor  # most symbols, for each source
    begin: int
    end: int
    shortest: int = 0
    no_repeat: int = 0  # no n-gram of this size is written twice; 0 lets all repeat
    prefix: Sequence[Sequence[int]] | None = None  # the forced start, for each source
    forbidden: tuple[int, ...] = ()


class Constraints:
    """The limits of a batch of sources, as tensors on the device where the search runs."""

    def __init__(self, limits: Limits, sources: int, device: torch.device):
        prefix = [[]] * sources if limits.prefix is None else limits.prefix
        if len(limits.longest) != sources or len(prefix) != sources:
            raise UsageError(
                f"{sources} sources came with {len(limits.longest)} longest lengths and {len(prefix)} forced "
                "starts; give one of each for each source"
            )
        self.begin, self.end, self.no_repeat = limits.begin, limits.end, limits.no_repeat
        self.forbidden = torch.tensor(limits.forbidden, dtype=torch.long, device=device)
        self.prefix = _rectangle(prefix, device)  # (B, P)  −1 where nothing is forced
        longest = torch.as_tensor(limits.longest, dtype=torch.long).to(device)
        self.longest = longest.maximum((self.prefix >= 0).sum(-1))  # (B,)
        self.shortest = self.longest.clamp(max=limits.shortest)  # (B,)
        self.most_forced = limits.shortest  # from this length on END is free
        self.least_full = int(self.longest.min()) if sources else 0  # before this length nobody is full

    def allow(self, log_probs: Tensor, written: Tensor, sources: Tensor) -> Tensor:
        """(R, N) log p of what may follow `written` (R, t), −∞ for the rest; nothing is normalised anew."""
        precision = torch.promote_types(log_probs.dtype, torch.float32)
        log_probs = log_probs.detach().to(precision)
        allowed = log_probs.index_fill(1, self.forbidden, -torch.inf)  # (R, N)
        self._forbid_repeats(allowed, written)
        if written.size(1) < self.most_forced:
            allowed[written.size(1) < self.shortest[sources], self.end] = -torch.inf
        most = allowed.amax(-1)  # (R,)
        least = float(most.amin())
        if math.isnan(least):
            raise RegardError("the model's probabilities are not numbers (NaN); its training has probably diverged")
        if least == -math.inf:  # the limits leave nothing: rather a short answer than none
            lost = most == -torch.inf  # (R,)
            allowed[lost, self.end] = log_probs[lost, self.end]
        return self._force(allowed, log_probs, written.size(1), sources)

    def full(self, written: Tensor, sources: Tensor) -> Tensor:
        """(R,) True where nothing but END may follow."""
        return written.size(1) >= self.longest[sources]

    def _forbid_repeats(self, allowed: Tensor, written: Tensor) -> None:
        size, length = self.no_repeat, written.size(1)
        if not 0 < size <= length:
            return
        grams = written.unfold(1, size, 1)  # (R, t − n + 1, n)
        latest = written[:, None, length - size + 1 :]  # (R, 1, n − 1)
        rows, places = (grams[..., :-1] == latest).all(-1).nonzero(as_tuple=True)
        allowed[rows, grams[rows, places, -1]] = -torch.inf

    def _force(self, allowed: Tensor, log_probs: Tensor, place: int, sources: Tensor) -> Tensor:
        if place >= self.prefix.size(1):
            return allowed
        symbol = self.prefix[sources, place, None]  # (R, 1)
        place_of = symbol.clamp(min=0)
        price = log_probs.gather(1, place_of).clamp(min=IMPOSSIBLE)  # (R, 1)
        forced = torch.full_like(allowed, -torch.inf).scatter(1, place_of, price)  # (R, N)
        return torch.where(symbol >= 0, forced, allowed)


def _rectangle(prefix: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    longest = max(map(len, prefix), default=0)
    padded = [[*start, *[-1] * (longest - len(start))] for start in prefix]
    return torch.tensor(padded, dtype=torch.long, device=device).view(len(prefix), longest)
