"""What a recipe costs: seconds, parameters, and how many attention weights it computes.

A decoder without attention takes O(S + T) steps over a pair of S source and T target places, attention computes
S·T weights for it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from regard.data.readers import Example
from regard.run import Run
from regard.tasks.questions import PointingCodec


class Cost(NamedTuple):
    """Of one recipe; times are means over its seeds."""

    parameters: int
    training: float  # seconds, with all dev evaluations but the last
    weights_per_epoch: int  # Σ S·T over the training pairs
    weights_of_test: int  # Σ S·T over the test pairs
    answers: float  # per second, on the test sources, with the recipe's own search


def weights_computed(run: Run, examples: Sequence[Example]) -> int:
    """Σ over pairs of H·S·T: a weight for every head, source place and step of the decoder; 0 without attention.

    S counts features too, T the step that writes the end. Pairs longer than data.longest are not read. Where nothing is
    written, T is 1, or the words of a question that is asked of the source.
    """
    if not any(model.attends for model in run.models):
        return 0
    return run.recipe.model.heads * sum(_weights(run, example) for example in examples)


def _weights(run: Run, example: Example) -> int:
    source = len(run.codec.source_symbols(example))
    if isinstance(run.codec, PointingCodec):
        return source * len(run.codec.question(example))
    if not run.writes:
        return source
    target = len(run.codec.target_symbols(example.target))
    return source * (target + 1) if max(source, target) <= run.recipe.data.longest else 0
