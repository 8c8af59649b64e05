"""From symbols to words: which symbols make a word.

A word is what stands between white space in the line, so that words are counted as in the file the links are for.
A symbol that is a space goes with the word that it begins, as SentencePiece's ▁ does.

| symbols   | words                                     |
|-----------|-------------------------------------------|
| graphemes | `T h e ␣ c a t` → The, cat                |
| tokens    | every token is a word                     |
| words     | `don ￭'￭ t go ￭.` → don't, go.             |
| subwords  | `▁s ent ence ▁s` → sentence, s            |
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from regard.data.text import JOINER, SPACE, Segmenter


class Cut(Protocol):
    """One side of the pairs, as far as words are concerned."""

    @property
    def name(self) -> str: ...  # of the segmenter

    @property
    def segmenter(self) -> Segmenter: ...


class Word(NamedTuple):
    text: str
    symbols: range  # which symbols it is made of


def natural_level(*halves: Cut) -> str:
    """Words of sentences; but where a side is spelt, its words have no parts that could be linked: symbols."""
    return "symbols" if any(half.name == "graphemes" for half in halves) else "words"


def words(half: Cut, symbols: Sequence[str], level: str, extra: int = 0) -> list[Word]:
    """The words of one side; the last `extra` symbols, features, are words of their own."""
    if level == "symbols":
        return [Word(symbol, range(place, place + 1)) for place, symbol in enumerate(symbols)]
    own, opens = len(symbols) - extra, OPENS[half.name]
    places = range(1, len(symbols))
    starts = [0, *(place for place in places if place >= own or opens(symbols[place - 1], symbols[place]))]
    return [
        Word(half.segmenter.join(symbols[start:end]).strip(), range(start, end))
        for start, end in pairwise([*starts, len(symbols)])
    ]


def _after_space(before: str, symbol: str) -> bool:
    """At the first of the spaces that stand before a word."""
    return symbol.isspace() and not before.isspace()


def _after_mark(before: str, symbol: str) -> bool:
    return symbol.startswith(SPACE) and before.strip(SPACE) != ""


def _unjoined(before: str, symbol: str) -> bool:
    return not (before.endswith(JOINER) or symbol.startswith(JOINER))


OPENS: dict[str, Callable[[str, str], bool]] = {
    "graphemes": _after_space,
    "tokens": lambda before, symbol: True,
    "words": _unjoined,
    "subwords": _after_mark,
}
