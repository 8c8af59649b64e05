"""What the tasks share that look at a picture or a clip and choose, perhaps with a question beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from regard.data.readers import Example
from regard.data.text import normalise
from regard.errors import DataError
from regard.prediction import Prediction
from regard.recipe import Recipe
from regard.tasks.choices import Symbols, all_labels, check_longest, checked_labels
from regard.tasks.codec import Half
from regard.tasks.eyes import ClipEye, PictureEye, eye_from_json


@dataclass(frozen=True)
class LookingCodec:
    """How sources are seen, which classes there are, and the symbols of questions."""

    eye: PictureEye | ClipEye
    labels: tuple[str, ...]  # in alphabetic order
    question: Half | None  # None: nothing is asked
    lowers: bool  # whether questions are lower-cased
    longest: int  # symbols of a question that are read

    sentences = False
    lowercase = False  # whoever reads a path for this codec leaves its capitals alone
    opens_files = True

    @classmethod
    def learn(
        cls, examples: Sequence[Example], recipe: Recipe, eye: PictureEye | ClipEye, asks: bool
    ) -> "LookingCodec":
        data, half = recipe.data, None
        if asks:
            half = Half.learn([normalise(one.features, data.lowercase) for one in examples], [], recipe.source)
        return cls(eye, all_labels(examples), half, data.lowercase, data.longest)

    @property
    def features(self) -> bool:
        return self.question is not None

    def clean(self, source: str) -> str:
        return source.strip()

    def symbols(self, example: Example) -> Symbols:
        """The names of the picture's places, and the question's symbols."""
        places = self.eye.open(example.path).names
        if self.question is None:
            return Symbols(places, [], 0)
        asked = self._split(example.features)
        if not asked:
            raise DataError(f"{example.place or 'the source'} comes without a question: give it with --beside")
        return Symbols(places, asked[: self.longest], max(len(asked) - self.longest, 0))

    def words(self, text: str) -> list[int]:
        """The numbers of a text's words, as those of questions are numbered."""
        return self.question.vocabulary.encode(self._split(text)) if self.question else []

    def _split(self, text: str) -> list[str]:
        assert self.question is not None
        return self.question.segmenter.split(normalise(text, self.lowers))

    def source_symbols(self, example: Example) -> list[str]:
        read = self.symbols(example)
        return read.source + read.beside

    def target_symbols(self, text: str | Sequence[str]) -> list[str]:
        """A class is one symbol."""
        return [text] if isinstance(text, str) else list(text)

    def numbers(self, example: Example, text: Symbols) -> tuple[Any, list[int]]:
        beside = self.question.vocabulary.encode(text.beside) if self.question else []
        return self.eye.open(example.path), beside

    def unknown(self, text: Symbols) -> list[str]:
        return self.question.vocabulary.unknown(text.beside) if self.question else []

    def shown(self, example: Example, prediction: Prediction) -> Prediction:
        seen: dict[str, Any] = {"sight": self.eye.open(example.path), "lines": (), "question": example.features}
        return replace(prediction, **seen, nbest=[replace(one, **seen) for one in prediction.nbest])

    def to_json(self) -> dict[str, Any]:
        question = None if self.question is None else self.question.to_json()
        kept = {"labels": list(self.labels), "lowers": self.lowers, "longest": self.longest}
        return {"eye": self.eye.to_json(), "question": question, **kept}

    @classmethod
    def from_json(cls, content: Any) -> "LookingCodec":
        if not isinstance(content, dict) or set(content) != {"eye", "question", "labels", "lowers", "longest"}:
            raise DataError("expected eye, question, labels, lowers and longest")
        if not isinstance(content["lowers"], bool):
            raise DataError(f"lowers is {content['lowers']!r:.40}; expected true or false")
        check_longest(content["longest"])
        half = None if content["question"] is None else Half.from_json(content["question"])
        labels = checked_labels(content["labels"])
        return cls(eye_from_json(content["eye"]), labels, half, content["lowers"], content["longest"])
