"""Texts ↔ numbers and classes, saved with the run, for the tasks that choose."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

from regard.data.readers import Example
from regard.data.sentences import SEPARATOR, join_lines, split_sentences
from regard.data.text import normalise
from regard.errors import DataError
from regard.prediction import Prediction
from regard.recipe import Side
from regard.tasks.codec import Half, Reads


class Symbols(NamedTuple):
    """An example's texts as they are read."""

    source: list[str]
    beside: list[str]  # of the second text of a pair
    left_out: int  # symbols beyond what is read


class Chooses(Reads, Protocol):
    """What the tasks that choose ask of a codec, whatever is read."""

    @property
    def labels(self) -> tuple[str, ...]: ...  # in alphabetic order

    @property
    def longest(self) -> int: ...  # symbols of an example that are read

    @property
    def sentences(self) -> bool: ...  # whether sentences are told apart

    def symbols(self, example: Example) -> Symbols: ...  # for people

    def numbers(self, example: Example, text: Symbols) -> tuple[Any, list[int]]: ...  # both texts, for a model

    def unknown(self, text: Symbols) -> list[str]: ...  # symbols never seen in training

    def shown(self, example: Example, prediction: Prediction) -> Prediction: ...  # with what else its source shows


@dataclass(frozen=True)
class Codec:
    """How texts become symbols, and which classes there are."""

    source: Half
    labels: tuple[str, ...]  # in alphabetic order
    features: bool  # whether there is a second text beside each source
    lowers: bool  # whether letters are made small, after sentences were found by their capitals
    longest: int  # symbols of an example that are read; the two texts of a pair have half of them each
    sentences: bool  # whether sentences are told apart

    lowercase = False  # whoever reads a text for this codec leaves its capitals alone
    opens_files = False

    @classmethod
    def learn(cls, examples: Sequence[Example], side: Side, labels: tuple[str, ...], **kept: Any) -> "Codec":
        """`kept` are the other fields."""
        pairs = kept["features"]
        texts = [text for one in examples for text in ((one.source, one.features) if pairs else (one.source,))]
        pieces = [piece for text in texts for piece in _pieces(text, kept["sentences"], kept["lowers"])]
        half = Half.learn(pieces, [[SEPARATOR] * side.least], side)
        return cls(half, labels, **kept)

    @property
    def separator(self) -> int:
        """The number of the symbol between sentences."""
        return self.source.vocabulary.encode([SEPARATOR])[0]

    def symbols(self, example: Example) -> Symbols:
        """Both texts, up to where they are read."""
        if not self.features:
            source, left_out = self._cut(example.source, self.longest)
            return Symbols(source, [], left_out)
        if not normalise(example.features):
            raise DataError(
                f"{example.place or 'the source'} comes without its second text: give both, with a tab between them, "
                "or the second with --beside"
            )
        (source, first), (beside, second) = (
            self._cut(text, max(self.longest // 2, 1)) for text in (example.source, example.features)
        )
        return Symbols(source, beside, first + second)

    def clean(self, source: str) -> str:
        return normalise(source, self.lowercase)

    def source_symbols(self, example: Example) -> list[str]:
        read = self.symbols(example)
        return read.source + read.beside

    def numbers(self, example: Example, text: Symbols) -> tuple[list[int], list[int]]:
        vocabulary = self.source.vocabulary
        return vocabulary.encode(text.source), vocabulary.encode(text.beside)

    def unknown(self, text: Symbols) -> list[str]:
        return self.source.vocabulary.unknown(text.source + text.beside)

    def shown(self, example: Example, prediction: Prediction) -> Prediction:
        return prediction

    def target_symbols(self, text: str | Sequence[str]) -> list[str]:
        """A class is one symbol."""
        return [text] if isinstance(text, str) else list(text)

    def _cut(self, text: str, most: int) -> tuple[list[str], int]:
        """The first symbols of a text, at most so many, and how many more there are but for separators."""
        symbols: list[str] = []
        for piece in _pieces(text, self.sentences, self.lowers):
            symbols += [SEPARATOR] if symbols else []
            symbols += self.source.segmenter.split(piece)
        read, rest = symbols[:most], symbols[most:]
        return read[:-1] if read[-1] == SEPARATOR else read, len(rest) - rest.count(SEPARATOR)

    def to_json(self) -> dict[str, Any]:
        rest = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("source", "labels")}
        return {"source": self.source.to_json(), "labels": list(self.labels), **rest}

    @classmethod
    def from_json(cls, content: Any) -> "Codec":
        names = [one.name for one in fields(cls)]
        if not isinstance(content, dict) or set(content) != set(names):
            raise DataError(f"expected {', '.join(names)}")
        labels = checked_labels(content["labels"])
        check_longest(content["longest"])
        for name in ("features", "lowers", "sentences"):
            if not isinstance(content[name], bool):
                raise DataError(f"{name} is {content[name]!r:.40}; expected true or false")
        codec = cls(**{**content, "source": Half.from_json(content["source"]), "labels": labels})
        if SEPARATOR not in codec.source.vocabulary:
            raise DataError("the vocabulary has no symbol between sentences")
        return codec


def _pieces(text: str, sentences: bool, lowers: bool) -> list[str]:
    """What is cut into symbols, piece by piece."""
    return [normalise(piece, lowers) for piece in (split_sentences(text) if sentences else [join_lines(text)])]


def all_labels(examples: Sequence[Example]) -> tuple[str, ...]:
    """In alphabetic order, if there are several."""
    labels = tuple(sorted({example.target for example in examples}))
    if len(labels) < 2:
        raise DataError(f"every example has the label {labels[0]!r}: there is nothing to choose between")
    return labels


def checked_labels(content: Any) -> tuple[str, ...]:
    """What was written to a run's folder."""
    if not isinstance(content, list) or not all(isinstance(one, str) for one in content):
        raise DataError(f"labels are {content!r:.40}; expected a list of texts")
    if len(content) < 2 or content != sorted(set(content)):
        raise DataError(f"labels are {content!r:.40}; expected at least two, each once, in alphabetic order")
    return tuple(content)


def check_longest(content: Any) -> None:
    if type(content) is not int or content < 1:
        raise DataError(f"longest is {content!r:.40}; expected a number of at least 1")
