"""Text ↔ numbers, saved with the run: how each side is cut into symbols, and which symbols it knows."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from regard.data.encoding import Encoding
from regard.data.links import symbol_links
from regard.data.readers import Example
from regard.data.text import SEGMENTERS, Segmenter, build_segmenter, normalise
from regard.data.vocabulary import BEGIN, END, UNKNOWN, Vocabulary
from regard.data.words import natural_level, words
from regard.errors import DataError
from regard.prediction import Prediction
from regard.recipe import Side

# Before a feature, so that the feature V is not the letter V: no grapheme has two characters of this kind.
FEATURE = "+"


class Reads(Protocol):
    """What a run asks of any task's codec."""

    @property
    def features(self) -> bool: ...  # whether a source has a second text beside it: features, a hypothesis, a question

    @property
    def lowercase(self) -> bool: ...

    @property
    def opens_files(self) -> bool: ...  # whether a source names a file

    def clean(self, source: str) -> str: ...  # as somebody gave it → as it is read

    def source_symbols(self, example: Example) -> list[str]: ...  # all that is read, in the order of its places

    def to_json(self) -> dict[str, Any]: ...


class Given(NamedTuple):
    """One source."""

    symbols: list[str]  # what stands at each place, for people
    source: Any  # the same for a model: numbers of symbols, or what `data.batching.join` asks to join its kind


class Writes(Reads, Protocol):
    """What the tasks that write ask of theirs, whatever is read."""

    @property
    def target(self) -> "Half": ...

    @property
    def copies(self) -> bool: ...  # whether what no vocabulary has may be copied

    def given(self, example: Example) -> Given: ...

    def unknown(self, symbols: Sequence[str]) -> list[str]: ...  # those never seen in training

    def target_symbols(self, text: str | Sequence[str]) -> list[str]: ...

    def target_numbers(self, target: Sequence[str], source: Sequence[str]) -> list[int]: ...

    def foreign(self, source: Sequence[str]) -> list[str]: ...  # what can be written only by copying

    def shown(self, example: Example, prediction: Prediction) -> Prediction: ...  # with what else its source shows

    def encode(self, example: Example) -> Encoding: ...


@dataclass(frozen=True)
class Half:
    """One side: source or target."""

    name: str  # of the segmenter
    segmenter: Segmenter
    vocabulary: Vocabulary

    @classmethod
    def learn(cls, texts: Sequence[str], extra: Sequence[Sequence[str]], side: Side) -> "Half":
        segmenter = build_segmenter(side.symbols, texts, side.subwords)
        sequences = [segmenter.split(text) for text in texts]
        return cls(side.symbols, segmenter, Vocabulary.build([*sequences, *extra], least=side.least))

    def to_json(self) -> dict[str, Any]:
        model = base64.b64encode(self.segmenter.model).decode("ascii")
        return {"symbols": self.name, "model": model, "vocabulary": self.vocabulary.to_list()}

    @classmethod
    def from_json(cls, content: Any) -> "Half":
        try:
            name, model = content["symbols"], base64.b64decode(content["model"], validate=True)
            segmenter = SEGMENTERS[name](model)
            return cls(name, segmenter, Vocabulary.from_list(content["vocabulary"]))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{error!r}; expected symbols, model and vocabulary of each side") from error


@dataclass(frozen=True)
class Codec:
    """Both sides, whether sources carry features, and whether what no vocabulary has may be copied.

    Where it may, the k-th distinct source symbol that the target vocabulary (size N) lacks has the target number N + k,
    and a source symbol that the source vocabulary (size V) lacks has the source number V + its target number.
    """

    source: Half
    target: Half
    features: bool
    lowercase: bool
    copies: bool = False

    opens_files = False

    @classmethod
    def learn(
        cls,
        examples: Sequence[Example],
        source: Side,
        target: Side,
        features: bool,
        lowercase: bool,
        copies: bool = False,
    ) -> "Codec":
        tags = [feature_symbols(example.features) for example in examples] if features else []
        return cls(
            Half.learn([example.source for example in examples], tags, source),
            Half.learn([example.target for example in examples], [], target),
            features,
            lowercase,
            copies,
        )

    def clean(self, source: str) -> str:
        return normalise(source, self.lowercase)

    def given(self, example: Example) -> Given:
        symbols = self.source_symbols(example)
        return Given(symbols, self.source_numbers(symbols))

    def unknown(self, symbols: Sequence[str]) -> list[str]:
        return self.source.vocabulary.unknown(symbols)

    def source_symbols(self, example: Example) -> list[str]:
        """What the encoder reads: the source's symbols, then its features."""
        symbols = self.source.segmenter.split(normalise(example.source, self.lowercase))
        return symbols + feature_symbols(example.features) if self.features else symbols

    def target_symbols(self, text: str | Sequence[str]) -> list[str]:
        """The symbols of a text; what is not a text has been cut into symbols already."""
        if not isinstance(text, str):
            return list(text)
        return self.target.segmenter.split(normalise(text, self.lowercase))

    def foreign(self, source: Sequence[str]) -> list[str]:
        """Those of a source's symbols that can be written only by copying, in the order of their numbers."""
        return self.target.vocabulary.unknown(filter(self.is_text, source)) if self.copies else []

    def is_text(self, symbol: str) -> bool:
        """Whether a source symbol could stand in an answer: features could not, and are never copied."""
        return not (self.features and symbol.startswith(FEATURE) and len(symbol) > len(FEATURE))

    def source_numbers(self, source: Sequence[str]) -> list[int]:
        numbers = self.source.vocabulary.encode(source)
        if not self.copies:
            return numbers
        size, held = len(self.source.vocabulary), self.target_numbers(source, source)
        return [size + target if number == UNKNOWN else number for number, target in zip(numbers, held, strict=True)]

    def target_numbers(self, target: Sequence[str], source: Sequence[str]) -> list[int]:
        return self.target.vocabulary.encode(target, self.foreign(source))

    def encode(self, example: Example) -> Encoding:
        source, target = self.source_symbols(example), self.target_symbols(example.target)
        links = self._links(example, source, target) if example.where else ()
        numbers = self.target_numbers(target, source)
        return Encoding(self.source_numbers(source), [BEGIN, *numbers, END], links)

    def _links(self, example: Example, source: list[str], target: list[str]) -> tuple[tuple[int, int], ...]:
        """The example's links of words as links of symbols; words are counted as `regard align` does."""
        level, features = natural_level(self.source, self.target), len(feature_symbols(example.features))
        read = words(self.source, source, level, features if self.features else 0)
        try:
            return symbol_links(example.where, read, words(self.target, target, level))
        except ValueError as error:
            raise DataError(f"the links of {example.place}: {error}") from error

    def turned(self) -> "Codec":
        """For a model that reads targets and writes sources."""
        return Codec(self.target, self.source, False, self.lowercase, copies=False)

    def shown(self, example: Example, prediction: Prediction) -> Prediction:
        """The answer with what else its source has to show: nothing, where it is one flat text."""
        return prediction

    def to_json(self) -> dict[str, Any]:
        sides = {"source": self.source.to_json(), "target": self.target.to_json()}
        copies = {"copies": True} if self.copies else {}
        return {**sides, "features": self.features, "lowercase": self.lowercase, **copies}

    @classmethod
    def from_json(cls, content: Any) -> "Codec":
        if not isinstance(content, dict) or set(content) - {"copies"} != {"source", "target", "features", "lowercase"}:
            raise DataError("expected source, target, features and lowercase, and perhaps copies")
        features, lowercase, copies = content["features"], content["lowercase"], content.get("copies", False)
        if not isinstance(features, bool) or not isinstance(lowercase, bool) or not isinstance(copies, bool):
            raise DataError(
                f"features is {features!r:.40}, lowercase is {lowercase!r:.40}, copies is {copies!r:.40}; "
                "expected true or false"
            )
        return cls(Half.from_json(content["source"]), Half.from_json(content["target"]), features, lowercase, copies)


def feature_symbols(features: str) -> list[str]:
    """`V;PST;3;SG` → +V +PST +3 +SG; features may be separated by semicolons, commas or spaces."""
    return [FEATURE + one for one in features.replace(";", " ").replace(",", " ").split()]
