"""Forced decoding: given answers, read as if they had just been written."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.search.hypothesis import Hypothesis, as_numpy, normalised
from regard.search.step import Step
from regard.search.tree import device_of


class Forced(NamedTuple):
    hypothesis: Hypothesis  # as if a search had found it
    following: Tensor  # (N,)  log p of what may come after its last symbol


def forced(
    step: Step, state: Any, targets: Sequence[Sequence[int]], *, begin: int, end: int, length_penalty: float = 1.0
) -> list[Forced]:
    """log p(y_1 … y_T END | x) and α_1 … α_T of one given y for each source."""
    device = device_of(state)
    longest = max(map(len, targets), default=0)
    padded = [[begin, *target, *[end] * (longest + 1 - len(target))] for target in targets]
    tokens = torch.tensor(padded, dtype=torch.long, device=device)  # (B, T + 2)
    rows = torch.arange(len(targets), device=device)
    log_probs, weights = [], []
    following: dict[int, Tensor] = {}
    for place in range(longest + 1):
        output = step(tokens[:, place], state, rows)
        state = output.state
        log_probs.append(output.log_probs[rows, tokens[:, place + 1]])
        weights.append(output.weights)
        ending = [row for row, target in enumerate(targets) if len(target) == place]
        following.update((row, output.log_probs[row].cpu()) for row in ending)
    logs = torch.stack(log_probs, 1).cpu().double()  # (B, T + 1)
    looks = as_numpy(torch.stack(weights, 1))  # (B, T + 1, S)
    return [
        Forced(_hypothesis(target, logs[row], looks[row], length_penalty), following[row])
        for row, target in enumerate(targets)
    ]


def _hypothesis(
    target: Sequence[int], logs: Tensor, looks: NDArray[np.floating[Any]], length_penalty: float
) -> Hypothesis:
    size = len(target) + 1  # END counts
    log_prob = logs[:size].sum()
    score = float(normalised(log_prob, size, length_penalty))
    return Hypothesis(list(target), score, float(log_prob), looks[: len(target)], True)
