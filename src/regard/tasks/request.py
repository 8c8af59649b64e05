"""What is asked of a task that writes sequences, and what it hands back; needs no torch."""

from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.data.readers import Example
from regard.data.vocabulary import BEGIN, PAD, UNKNOWN
from regard.errors import UsageError
from regard.prediction import Prediction
from regard.recipe import Search
from regard.tasks.codec import Writes

FORBIDDEN = (PAD, UNKNOWN, BEGIN)  # never written


@dataclass(frozen=True)
class Request:
    """How answers are looked for: the recipe's search options, and what one call adds."""

    search: Search
    nbest: int = 0  # 0: the best answer only
    prefix: str | Sequence[str] = ""  # every answer begins with this text, or with these symbols
    sampling: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        width = self.search.beam
        if width < 1 or self.nbest < 0:
            raise UsageError(f"beam {width} and n-best {self.nbest} came; a beam is at least 1, n-best at least 0")
        if self.nbest > width and not self.sampling:
            raise UsageError(
                f"{self.nbest} best of a beam of {width} cannot be had: make the beam at least {self.nbest}"
            )

    @property
    def reranks(self) -> bool:
        """Whether others than the decoder have a say: among several hypotheses of a search, not among samples."""
        return self.search.beam > 1 and not self.sampling


class Found(Protocol):
    """What a search hands back for one answer."""

    @property
    def tokens(self) -> list[int]: ...

    @property
    def score(self) -> float: ...

    @property
    def log_prob(self) -> float: ...

    @property
    def weights(self) -> NDArray[np.floating[Any]]: ...  # (T, S)

    @property
    def finished(self) -> bool: ...


class Read(NamedTuple):
    """A given answer as a run reads it."""

    prediction: Prediction
    following: NDArray[np.float32]  # (N,)  log p of what may come after its last symbol; and beyond N what is copied


def longest_answers(sources: Sequence[Sized], options: Search) -> list[int]:
    """How many symbols an answer to each source may have."""
    return [int(options.longest_ratio * len(source)) + options.longest_extra for source in sources]


def write_prediction(
    codec: Writes,
    example: Example,
    symbols: list[str],
    hypotheses: Sequence[Found],
    attends: bool,
    nbest: int,
) -> Prediction:
    """The best hypothesis as an answer that people can read, with the others in `nbest` if they were asked for."""
    unknown = codec.unknown(symbols)

    def one(hypothesis: Found, nbest: list[Prediction]) -> Prediction:
        tokens = codec.target.vocabulary.decode(hypothesis.tokens, codec.foreign(symbols))
        # a copy, since the batch's array need not live as long as one of its answers
        weights = np.array(hypothesis.weights[:, : len(symbols)], dtype=np.float32) if attends else None
        prediction = Prediction(
            example.source,
            codec.target.segmenter.join(tokens),
            hypothesis.score,
            hypothesis.log_prob,
            symbols,
            tokens,
            weights,
            hypothesis.finished,
            unknown,
            nbest,
        )
        return codec.shown(example, prediction)

    return one(hypotheses[0], [one(hypothesis, []) for hypothesis in hypotheses] if nbest else [])


def write_read(
    codec: Writes,
    example: Example,
    symbols: list[str],
    target: Sequence[str],
    hypothesis: Found,
    following: Any,
    attends: bool,
) -> Read:
    """As `write_prediction`, but the answer keeps the symbols it came with, also those that the run does not know."""
    read = write_prediction(codec, example, symbols, [hypothesis], attends, 0)
    output = codec.target.segmenter.join(list(target))
    prediction = replace(read, output=output, output_tokens=list(target))
    return Read(codec.shown(example, prediction), np.asarray(following, dtype=np.float32))
