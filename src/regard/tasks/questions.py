"""Passages and questions ↔ numbers: how texts are cut, which words are known, how much of a passage is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from regard.data.places import CUTTERS, Token, find_tokens
from regard.data.readers import Example
from regard.data.text import normalise
from regard.data.vocabulary import Vocabulary
from regard.errors import DataError
from regard.recipe import Recipe


@dataclass(frozen=True)
class PointingCodec:
    """One vocabulary for passages and questions. Words may be looked up lower-cased, but texts stay as they are."""

    symbols: str  # how texts are cut: a name of places.CUTTERS
    vocabulary: Vocabulary
    folds: bool  # words are looked up lower-cased
    longest: int  # tokens of a passage, and of a question, that are read
    blank: str  # what stands for the missing word in a question; "" where no word is missing

    opens_files = False

    @property
    def features(self) -> bool:
        return True  # a question beside every passage

    @property
    def source(self) -> "PointingCodec":
        return self  # the one vocabulary is that of the source

    @property
    def lowercase(self) -> bool:
        return False  # the source stays as it was written: answers are cut out of it

    @classmethod
    def learn(cls, examples: Sequence[Example], recipe: Recipe, blank: str = "") -> "PointingCodec":
        """Of texts that are the same, as passages with several questions, one counts."""
        symbols, data = recipe.source.symbols, recipe.data
        passages = [texts(find_tokens(one, symbols)) for one in dict.fromkeys(example.source for example in examples)]
        questions = [_cut(example.features, symbols, blank) for example in examples]
        known = [_folded(one, data.lowercase) for one in (*passages, *questions)]
        return cls(symbols, Vocabulary.build(known, recipe.source.least), data.lowercase, data.longest, blank)

    def tokens(self, text: str) -> list[Token]:
        return find_tokens(text, self.symbols)

    def question(self, example: Example) -> list[str]:
        """Its tokens, the blank being one of them."""
        return _cut(example.features, self.symbols, self.blank)

    def clean(self, source: str) -> str:
        return normalise(source, self.lowercase)

    def source_symbols(self, example: Example) -> list[str]:
        """What is read of the passage; a question must stand beside it."""
        if wrong := trouble(example, self.blank):
            raise DataError(f"{example.place}: {wrong}")
        return texts(self.tokens(example.source)[: self.longest])

    def folded(self, words: Sequence[str]) -> list[str]:
        return _folded(words, self.folds)

    def encode(self, words: Sequence[str]) -> list[int]:
        return self.vocabulary.encode(self.folded(words))

    def to_json(self) -> dict[str, Any]:
        content = {one.name: getattr(self, one.name) for one in fields(self)}
        return content | {"vocabulary": self.vocabulary.to_list()}

    @classmethod
    def from_json(cls, content: Any) -> "PointingCodec":
        kinds = {"symbols": str, "vocabulary": list, "folds": bool, "longest": int, "blank": str}
        if not isinstance(content, dict) or set(content) != set(kinds):
            raise DataError(f"expected {', '.join(kinds)}")
        for name, kind in kinds.items():
            if type(content[name]) is not kind:
                raise DataError(f"{name} is {content[name]!r:.40}; expected {kind.__name__}")
        if content["symbols"] not in CUTTERS or content["longest"] < 1:
            raise DataError(
                f"symbols are {content['symbols']!r:.40}, longest is {content['longest']}: both must be known"
            )
        return cls(**content | {"vocabulary": Vocabulary.from_list(content["vocabulary"])})


def trouble(example: Example, blank: str) -> str:
    """What is wrong with its question; "" if nothing is."""
    if not example.features:
        return "there is no question beside the passage: give one with --beside, or in a column of its own"
    blanks = len(_blanks(blank).findall(example.features)) if blank else 1
    if blanks != 1:
        return f"the question has {blanks} blanks ({blank}); expected one, where the word is missing"
    return ""


def texts(tokens: Sequence[Token]) -> list[str]:
    return [token.text for token in tokens]


def _cut(question: str, symbols: str, blank: str) -> list[str]:
    first, *rest = _blanks(blank).split(question) if blank else [question]
    cut = texts(find_tokens(first, symbols))
    for part in rest:
        cut += [blank, *texts(find_tokens(part, symbols))]
    return cut


@cache
def _blanks(blank: str) -> re.Pattern[str]:
    """A blank that is one character again and again may be longer: people draw lines of any length."""
    return re.compile(f"{re.escape(blank[0])}{{{len(blank)},}}" if len(set(blank)) == 1 else re.escape(blank))


def _folded(words: Sequence[str], folds: bool) -> list[str]:
    return [word.lower() for word in words] if folds else list(words)
