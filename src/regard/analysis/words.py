"""From weights of symbols to weights of words: what a word looks at."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.words import Word

Weights = NDArray[np.floating[Any]]


def merge(weights: Weights, target: Sequence[Word], source: Sequence[Word]) -> Weights:
    """Weights of symbols (T, S) → weights of words, α_WV = 1/|W| Σ_{t ∈ W} Σ_{j ∈ V} α_tj.

    To look at any piece of a source word is to look at that word: a sum. A target word is written in |W| steps that
    look one after the other: a mean. So a row that summed to 1 still does (Koehn and Knowles 2017 count the same way).
    """
    columns = np.stack([weights[:, word.symbols].sum(1) for word in source], 1)  # (T, words)
    return np.stack([columns[word.symbols].mean(0) for word in target])
