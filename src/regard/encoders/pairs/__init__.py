"""Two texts, premise and hypothesis, → one vector that says how they stand to each other.

Three ideas, from the least to the most that the two see of each other: each becomes an embedding of its own
(sentences), the hypothesis reads the premise word by word (words), each word of both is compared with what the other
text has for it (alignment).
"""

from typing import NamedTuple, Protocol

from torch import Tensor

from regard.data.batching import Padded


class Paired(NamedTuple):
    """What is known of a pair, and what was read to know it."""

    vector: Tensor  # (B, D)
    over_premise: Tensor  # (B, R, P)  weights of the premise's places; R as `rows` says
    over_hypothesis: Tensor | None  # (B, R, H)  weights of the hypothesis's, where the premise reads it as well


class PairReader(Protocol):
    size: int  # D
    rows: int  # of weights over each text; 0: each word of the other text has a row

    def __call__(self, premise: Padded, hypothesis: Padded) -> Paired: ...
