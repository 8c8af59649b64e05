"""Decoders that look back at what they have written themselves, and can say where."""

from typing import NamedTuple, Protocol, runtime_checkable

from torch import Tensor

from regard.attention.memory import Encoded


class Looked(NamedTuple):
    """Where each word y_t of given answers looked among the words before it."""

    weights: Tensor  # (B, T, T)  column 0 is what there is before the first word, column i the word y_i, i < t
    copied: Tensor | None = None  # (B, T)  the column that y_t was copied from, 0: from none


@runtime_checkable
class LooksBack(Protocol):
    look: str  # what the weights are called
    before: str  # what column 0 is called

    def look_back(self, tokens: Tensor, encoded: Encoded) -> Looked: ...  # BEGIN y_1 … y_T (B, T + 1), …
