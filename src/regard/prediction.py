"""An answer, with where it looked."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Prediction:
    """What a run answers to one source.

    `attention[t, j]` is the weight of source token j when output token t was written; each row sums to 1.
    It is None for a model without attention.
    """

    source: str
    output: str
    score: float  # log probability over length^penalty, plus the coverage penalty
    log_probability: float
    source_tokens: list[str]
    output_tokens: list[str]
    attention: NDArray[np.float32] | None
    finished: bool = True  # False: it reached the length limit before it wrote an end
    unknown: list[str] = field(default_factory=list)  # source symbols never seen in training, read as unknown
    nbest: list["Prediction"] = field(default_factory=list)  # best first, this one included, when asked for

    def to_dict(self) -> dict[str, Any]:
        """As `regard predict --json` prints it."""
        content: dict[str, Any] = {
            "source": self.source,
            "output": self.output,
            "score": self.score,
            "source_tokens": self.source_tokens,
            "output_tokens": self.output_tokens,
            "attention": None if self.attention is None else self.attention.tolist(),
        }
        if not self.finished:
            content["finished"] = False
        if self.unknown:
            content["unknown"] = self.unknown
        if self.nbest:
            content["nbest"] = [one.to_dict() for one in self.nbest]
        return content

    def __str__(self) -> str:
        return self.output
