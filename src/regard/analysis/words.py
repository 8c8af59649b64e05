"""From symbols to words: which symbols make a word, and what a word looks at.

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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.text import JOINER, SPACE
from regard.tasks.codec import Half

Weights = NDArray[np.floating[Any]]


class Word(NamedTuple):
    text: str
    symbols: range  # which symbols it is made of


LEVELS = ("words", "symbols")


def natural_level(*halves: Half) -> str:
    """Words of sentences; but where a side is spelt, its words have no parts that could be linked: symbols."""
    return "symbols" if any(half.name == "graphemes" for half in halves) else "words"


def words(half: Half, symbols: Sequence[str], level: str, extra: int = 0) -> list[Word]:
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


def merge(weights: Weights, target: Sequence[Word], source: Sequence[Word]) -> Weights:
    """Weights of symbols (T, S) → weights of words, α_WV = 1/|W| Σ_{t ∈ W} Σ_{j ∈ V} α_tj.

    To look at any piece of a source word is to look at that word: a sum. A target word is written in |W| steps that
    look one after the other: a mean. So a row that summed to 1 still does (Koehn and Knowles 2017 count the same way).
    """
    columns = np.stack([weights[:, word.symbols].sum(1) for word in source], 1)  # (T, words)
    return np.stack([columns[word.symbols].mean(0) for word in target])
