"""What a recipe costs: seconds, parameters, and how many attention weights it computes.

A decoder without attention takes O(S + T) steps over a pair of S source and T target places, attention computes
S·T weights for it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from regard.data.readers import Example
from regard.run import Run


class Cost(NamedTuple):
    """Of one recipe; times are means over its seeds."""

    parameters: int
    training: float  # seconds, with all dev evaluations but the last
    weights_per_epoch: int  # Σ S·T over the training pairs
    weights_of_test: int  # Σ S·T over the test pairs
    answers: float  # per second, on the test sources, with the recipe's own search


def weights_computed(run: Run, examples: Sequence[Example]) -> int:
    """Σ over pairs of H·S·T: a weight for every head, source place and step of the decoder; 0 without attention.

    S counts features too, T the step that writes the end. Pairs longer than data.longest are not read.
    """
    if not any(model.attends for model in run.models):
        return 0
    sizes = [_sizes(run, example) for example in examples]
    most = run.recipe.data.longest
    return run.recipe.model.heads * sum(S * (T + 1) for S, T in sizes if max(S, T) <= most)


def _sizes(run: Run, example: Example) -> tuple[int, int]:
    return len(run.codec.source_symbols(example)), len(run.codec.target_symbols(example.target))
