"""String → symbols → string: normalising, and the four ways to cut a text into symbols.

| name      | a symbol is                          | `split("Don't go.")`                              |
|-----------|--------------------------------------|---------------------------------------------------|
| graphemes | a character as a reader perceives it | `D o n ' t ␣ g o .`                               |
| tokens    | what stands between white space      | `Don't go.`                                       |
| words     | a word or a punctuation mark         | `Don ￭'￭ t go ￭.` (￭: no space on this side)      |
| subwords  | a frequent piece, learnt from text   | `▁D on ' t ▁go .` (▁: a space)                    |

All are built as Name(model) and trained as Name.train(texts, size). Only subwords have a model; it is kept as
bytes, so that a name and these bytes are all a run folder needs.
"""

import io
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

import grapheme
import sentencepiece

from regard.errors import DataError, UsageError

BYTE_ORDER_MARK = "\ufeff"
JOINER = "￭"  # on a symbol of Words: the neighbour on this side follows without a space
SPACE = "▁"  # in a symbol of Subwords: a space
Kind = Literal["unigram", "bpe"]


def normalise(text: str, lowercase: bool = False) -> str:
    """Unicode NFC without byte order mark and outer white space; nothing inside is collapsed."""
    text = text.strip()
    if text.isascii():
        return text.lower() if lowercase else text  # as most texts that are answered: nothing else can be wrong with it
    text = text.lstrip(BYTE_ORDER_MARK).strip()
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        found = f"U+{ord(text[error.start]):04X}"
        raise DataError(f"the text holds {found}, half a surrogate pair, which is no character") from error
    return unicodedata.normalize("NFC", text.lower() if lowercase else text)


class Segmenter(ABC):
    """join(split(text)) == text for normalised text with single spaces."""

    def __init__(self, model: bytes = b""):
        self.model: bytes = model  # empty unless something was learnt

    @classmethod
    def train(cls, texts: Iterable[str], size: int) -> "Segmenter":
        """Most learn nothing."""
        return cls()

    @abstractmethod
    def split(self, text: str) -> list[str]: ...

    @abstractmethod
    def join(self, symbols: Sequence[str]) -> str: ...


class Graphemes(Segmenter):
    """User-perceived characters (Unicode UAX #29): स्ते, a flag and a family emoji are one symbol each."""

    def split(self, text: str) -> list[str]:
        if text and max(text) < "\u0300" and "\r" not in text:
            return list(text)  # nothing combines below U+0300, but for CR LF
        return list(grapheme.graphemes(text))

    def join(self, symbols: Sequence[str]) -> str:
        return "".join(symbols)


class Tokens(Segmenter):
    """What stands between white space: phonemes, words that are already cut."""

    def split(self, text: str) -> list[str]:
        return text.split()

    def join(self, symbols: Sequence[str]) -> str:
        return " ".join(symbols)


class Words(Segmenter):
    """Words and punctuation marks; a mark remembers on which sides it touches its neighbour."""

    def split(self, text: str) -> list[str]:
        return [symbol for chunk in text.split() for symbol in _pieces(chunk)]

    def join(self, symbols: Sequence[str]) -> str:
        text = " ".join(symbols).replace(f" {JOINER}", "").replace(f"{JOINER} ", "")
        return text.replace(JOINER, "")  # those at the ends, and where both neighbours have one


@lru_cache(maxsize=2**16)  # text repeats its words
def _pieces(chunk: str) -> tuple[str, ...]:
    """Cut what stands between two spaces, at every border with a mark; the mark carries the joiner."""
    pieces: list[str] = []
    after_word = False
    for sign in Graphemes().split(chunk.replace(JOINER, "■")):
        in_word = unicodedata.category(sign[0])[0] in "LN"  # letters and numbers; combining marks ride on them
        if in_word and after_word:
            pieces[-1] += sign
        elif in_word:
            pieces[-1:] = [piece + JOINER for piece in pieces[-1:]]
            pieces.append(sign)
        else:
            pieces.append(JOINER + sign if pieces else sign)
        after_word = in_word
    return tuple(pieces)


class Subwords(Segmenter):
    """Pieces that SentencePiece learnt from the training text (Kudo and Richardson 2018), without loss."""

    def __init__(self, model: bytes = b""):
        super().__init__(model)
        if not model:
            raise DataError("the subword model is empty; subwords must be trained first")
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError as error:
            raise DataError("the subword model is damaged: SentencePiece cannot read it") from error

    @classmethod
    def train(cls, texts: Iterable[str], size: int, kind: Kind = "unigram") -> "Subwords":
        """Learn at most `size` pieces, fewer from little text; the same text gives the same bytes."""
        lines = [text.replace(SPACE, "_") for text in texts if text.strip()]
        signs = len({sign for line in lines for sign in line} | {" "})
        if not lines:
            raise DataError("too little text to learn subwords from: every line is empty")
        if size <= signs:
            raise DataError(f"{size} subwords are too few for {signs} different characters; ask for more")
        written = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(lines),
                model_writer=written,
                model_type=kind,
                vocab_size=size,
                hard_vocab_limit=False,  # little text: fewer pieces rather than an error
                normalization_rule_name="identity",  # the text is NFC already
                remove_extra_whitespaces=False,
                character_coverage=1.0,
                max_sentence_length=2**20,
                bos_id=-1,
                eos_id=-1,
                num_threads=1,  # the order of sums would change the pieces
                minloglevel=2,
            )
        except RuntimeError as error:
            raise DataError(f"cannot learn {size} subwords from {len(lines)} lines: {error}") from error
        return cls(written.getvalue())

    def split(self, text: str) -> list[str]:
        pieces: list[str] = self._processor.encode(text.replace(SPACE, "_"), out_type=str)
        return pieces

    def join(self, symbols: Sequence[str]) -> str:
        return "".join(symbols).replace(SPACE, " ").removeprefix(" ")


SEGMENTERS: dict[str, type[Segmenter]] = {
    "graphemes": Graphemes,
    "tokens": Tokens,
    "words": Words,
    "subwords": Subwords,
}


def build_segmenter(name: str, texts: Iterable[str], size: int) -> Segmenter:
    """The segmenter of this name, ready to use; `size` counts for subwords only."""
    if name not in SEGMENTERS:
        raise UsageError(f"symbols {name!r} are unknown; expected one of {', '.join(SEGMENTERS)}")
    return SEGMENTERS[name].train(texts, size)
