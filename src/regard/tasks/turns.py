"""Conversations ↔ numbers: turns parted by a symbol of their own, of which the last few are read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regard.data.readers import Example
from regard.data.text import normalise
from regard.data.turns import TURN, split_turns, turn_lengths
from regard.errors import DataError
from regard.prediction import Look, Prediction
from regard.recipe import Side
from regard.tasks.codec import Codec, Half


@dataclass(frozen=True)
class TurnCodec(Codec):
    """Turns are cut into symbols one by one, so that none reaches across the border and the border is a symbol."""

    turns: int = 0  # how many are read, counted from the last; 0: all

    @classmethod
    def learn_turns(
        cls, examples: Sequence[Example], source: Side, target: Side, lowercase: bool, turns: int, copies: bool = False
    ) -> "TurnCodec":
        read = [turn for example in examples for turn in _last(split_turns(example.source), turns)]
        return cls(
            Half.learn(read, [[TURN]] * source.least, source),  # the border is known, also if it was never seen
            Half.learn([example.target for example in examples], [], target),
            features=False,
            lowercase=lowercase,
            copies=copies,
            turns=turns,
        )

    @property
    def border(self) -> int:
        """The number of the symbol between turns."""
        return self.source.vocabulary.encode([TURN])[0]

    def is_text(self, symbol: str) -> bool:
        """The border between turns is none."""
        return symbol != TURN

    def source_turns(self, example: Example) -> list[str]:
        """All turns, also those too long ago to be read."""
        turns = split_turns(normalise(example.source, self.lowercase))
        if not turns:
            raise DataError(f"{example.place or 'the source'} has only empty turns: nothing was said")
        return turns

    def source_symbols(self, example: Example) -> list[str]:
        """The symbols of the turns that are read, with TURN between them."""
        first, *others = [self.source.segmenter.split(turn) for turn in _last(self.source_turns(example), self.turns)]
        return first + [symbol for turn in others for symbol in (TURN, *turn)]

    def left_out(self, example: Example) -> int:
        """Symbols of the turns that are not read."""
        turns = self.source_turns(example)
        unread = turns[: len(turns) - len(_last(turns, self.turns))]
        return sum(len(self.source.segmenter.split(turn)) for turn in unread)

    def shown(self, example: Example, prediction: Prediction) -> Prediction:
        """The answer with what it shows of turns: how long they are, and how much of them each symbol looked at.

        Under attention at both levels a turn's share of the weights is β_tu, since the α of its words sum to 1.
        """
        turns, lengths = _last(self.source_turns(example), self.turns), turn_lengths(prediction.source_tokens)
        parted = replace(prediction, lines=lengths, left_out=self.left_out(example))
        if prediction.attention is None:
            return parted
        begins = np.cumsum([0, *lengths[:-1]])
        weights = np.add.reduceat(prediction.attention, begins, axis=1)  # (T, U)
        mean = weights.sum(0) / max(len(weights), 1)  # (U,)
        look = Look("turns", weights, prediction.output_tokens, turns, ("output", "turn"))
        return replace(parted, line_weights=mean.tolist(), looks=[look])

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "turns": self.turns}

    @classmethod
    def from_json(cls, content: Any) -> "TurnCodec":
        if not isinstance(content, dict) or type(content.get("turns")) is not int or content["turns"] < 0:
            raise DataError("expected turns, a number of at least 0, beside source and target")
        plain = Codec.from_json({name: part for name, part in content.items() if name != "turns"})
        codec = cls(plain.source, plain.target, plain.features, plain.lowercase, plain.copies, content["turns"])
        if TURN not in codec.source.vocabulary:
            raise DataError(f"the source's vocabulary has no {TURN}, which stands between turns")
        return codec


def _last(turns: list[str], count: int) -> list[str]:
    return turns[-count:] if count else turns
