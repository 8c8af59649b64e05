"""Learning rates, as plain functions of where training stands."""

import math

from regard.recipe import Training


def learning_rate(options: Training, update: int, progress: float, falls: int) -> float:
    """The rate for update number `update` (from 0), when `progress` ∈ [0, 1] of all epochs is done.

    warm-up: rises linearly over `warmup` updates;   constant: stays
    cosine: floor + (top − floor) (1 + cos π·progress) / 2
    plateau: top · factor^falls, where `falls` counts the plateaus met so far
    """
    top, floor = options.learning_rate, min(options.floor, options.learning_rate)
    warm = min(1.0, (update + 1) / options.warmup) if options.warmup else 1.0
    if options.schedule == "cosine":
        return warm * (floor + (top - floor) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2)
    if options.schedule == "plateau":
        return warm * max(floor, top * options.plateau_factor**falls)
    return warm * top
