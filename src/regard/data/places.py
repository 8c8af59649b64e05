"""Text → tokens that know their place in it: `text[token.begin:token.end] == token.text`, whatever the text.

What answers by pointing needs this: the answer is cut out of the text as it was written, case and all.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from regard.data.text import JOINER, Graphemes, Words
from regard.errors import UsageError


class Token(NamedTuple):
    text: str
    begin: int  # its first character
    end: int  # the character after its last


@lru_cache(maxsize=2**16)  # text repeats its words
def _words(chunk: str) -> tuple[str, ...]:
    """As the segmenter `words` cuts, without its marks for missing spaces: places say the same."""
    return tuple(piece.strip(JOINER) for piece in Words().split(chunk))


def _whole(chunk: str) -> Sequence[str]:
    return [chunk]


CUTTERS: dict[str, Callable[[str], Sequence[str]]] = {
    "graphemes": Graphemes().split,
    "tokens": _whole,
    "words": _words,
}  # each cuts what stands between two spaces into pieces that are the whole of it


def find_tokens(text: str, symbols: str) -> list[Token]:
    """The tokens of a text in their order; what stands between them is white space."""
    if symbols not in CUTTERS:
        raise UsageError(f"source.symbols={symbols}: an answer is pointed at by {', '.join(CUTTERS)}")
    found = []
    for chunk in re.finditer(r"\S+", text):
        begin = chunk.start()
        for piece in CUTTERS[symbols](chunk.group()):
            end = begin + len(piece)
            found.append(Token(text[begin:end], begin, end))
            begin = end
    return found


def find_span(tokens: Sequence[Token], wanted: Sequence[str], near: int = 0) -> tuple[int, int] | None:
    """First and last token of an answer, given as lower-cased tokens; None if they nowhere follow each other.

    Of several such places, the one that is nearest to a character.
    """
    words = [token.text.lower() for token in tokens]
    size = len(wanted)
    starts = [place for place in range(len(words) - size + 1) if words[place : place + size] == list(wanted)]
    if not starts or not size:
        return None
    start = min(starts, key=lambda place: abs(tokens[place].begin - near))
    return start, start + size - 1


def cover_span(tokens: Sequence[Token], begin: int, end: int) -> tuple[int, int] | None:
    """First and last of the tokens that share a character with begin … end − 1."""
    inside = [place for place, token in enumerate(tokens) if token.begin < end and token.end > begin]
    return (inside[0], inside[-1]) if inside else None
