"""The best of many, with ties settled the same way on every machine and in every batch."""

import torch
from torch import Tensor


def leaders(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` best of each row of (L, M) and their places, best first; of equals, the lower place wins.

    `topk` is fast, but takes any of two equals. That matters only where the last chosen equals the first that
    is not (−∞ apart, which nobody wants); asking for one more than needed shows it.
    """
    count = min(count, scores.size(1))
    values, places = scores.topk(min(count + 1, scores.size(1)), -1)
    last, next_one, places = values[:, count - 1], values[:, -1], places[:, :count]
    tied = ((last == next_one) & (last > -torch.inf)).nonzero().squeeze(1)  # rows that topk cannot settle
    if len(tied):
        places[tied] = _lowest(scores[tied], last[tied, None], count)
    places = places.sort(-1).values  # in rising order, so that the stable sort keeps equals in it
    values, order = scores.gather(1, places).sort(dim=-1, descending=True, stable=True)
    return values, places.gather(1, order)


def _lowest(scores: Tensor, last: Tensor, count: int) -> Tensor:
    """Places of all better than the last chosen, and of the first of its equals while there is room."""
    better, equal = scores > last, scores == last  # (L, M)
    room = count - better.sum(-1, keepdim=True)  # (L, 1)
    chosen = better | (equal & (equal.cumsum(-1) <= room))  # (L, M)
    return chosen.nonzero()[:, 1].view(len(scores), count)
