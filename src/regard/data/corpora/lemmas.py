"""Inflected forms and their lemmas, from simplemma's dictionaries."""

import lzma
from collections.abc import Iterator
from sys import intern
from unicodedata import category

from regard.data.corpora.package import Contents
from regard.data.corpora.split import Row, tidy
from regard.errors import DataError

FOLDER = "simplemma/strategies/dictionaries/data"
CODES = """
ar ast bg ca cs cy da de el en enm eo es et fa fi fr ga gd gl grc gv hbs he hi hu hy id is it ka la lb lt lv
mk ml ms nb nl nn pl pt ro ru se sk sl sq sv sw tl tr uk
"""
LANGUAGES = tuple(CODES.split())

MAGIC = b"SMFC1"
SAME, WHOLE = (
    254,
    255,
)  # in place of a number of bytes to cut: the lemma of the line before; a lemma written out


def forms(contents: Contents, language: str) -> Iterator[Row]:
    """form → lemma, single words of letters only; a lemma's forms stay on one side."""
    for form, lemma in dictionary(contents[f"{FOLDER}/{language}.plzma"]):
        if _is_word(form) and _is_word(lemma):
            lemma = intern(tidy(lemma))  # once in memory, not once a form: Finnish has 3.5 million
            yield Row(intern(lemma.casefold()), tidy(form), lemma)


def dictionary(content: bytes) -> Iterator[tuple[str, str]]:
    """Front-coded pairs, compressed by lzma; nothing in them is executed.

    Header: magic, a flag (texts are stored backwards), number of pairs. Per pair: how many bytes the form
    shares with the one before, its other bytes; how many bytes of the form to cut, what to add for the lemma.
    """
    data = lzma.decompress(content)
    if not data.startswith(MAGIC):
        raise DataError(f"a simplemma dictionary begins with {MAGIC!r}, this one with {data[:5]!r}")
    step = -1 if data[5] & 1 else 1
    count, at = _number(data, 6)
    form = lemma = b""
    for _ in range(count):
        shared, at = _number(data, at)
        rest, at = _bytes(data, at)
        form = form[:shared] + rest
        cut, at = data[at], at + 1
        if cut != SAME:
            ending, at = _bytes(data, at)
            lemma = (b"" if cut == WHOLE else form[: len(form) - cut]) + ending
        yield form[::step].decode("utf-8"), lemma[::step].decode("utf-8")


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Seven bits a byte, lowest first; the eighth says that another byte follows. → number, next place"""
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return number, at
        shift += 7


def _bytes(data: bytes, at: int) -> tuple[bytes, int]:
    length, at = _number(data, at)
    return data[at : at + length], at + length


def _is_word(text: str) -> bool:
    return text.isalpha() or (
        any(map(str.isalpha, text)) and all(c in "-'’\u200c\u200d" or category(c)[0] in "LM" for c in text)
    )
