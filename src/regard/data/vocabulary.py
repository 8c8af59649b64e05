"""Symbol ↔ number. Four numbers are special: padding, an unseen symbol, begin and end of a sequence."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import filterfalse

from regard.errors import DataError

PAD, UNKNOWN, BEGIN, END = range(4)
SPECIALS = ("<pad>", "<unknown>", "<begin>", "<end>")
REPLACEMENT = "�"  # how an unknown symbol is shown


@dataclass(frozen=True)
class Vocabulary:
    """Symbols in a fixed order, specials first. Text cannot spell a special: `<pad>` in a file is unknown."""

    symbols: tuple[str, ...]
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self.symbols)
        numbers = {symbol: number for number, symbol in enumerate(self.symbols) if number > END}
        object.__setattr__(self, "_numbers", numbers)

    @classmethod
    def build(cls, sequences: Iterable[Sequence[str]], least: int = 1, most: int | None = None) -> "Vocabulary":
        """The `most` frequent symbols of those seen at least `least` times; equals in alphabetic order."""
        counts = Counter(symbol for sequence in sequences for symbol in sequence)
        kept = [symbol for symbol, count in counts.items() if count >= least and symbol not in SPECIALS]
        kept.sort(key=lambda symbol: (-counts[symbol], symbol))
        if counts and not kept:
            raise DataError(f"no symbols: none of {len(counts)} appears {least} times; lower the least count")
        return cls((*SPECIALS, *kept[:most]))

    @classmethod
    def from_list(cls, symbols: object) -> "Vocabulary":
        """Read back what to_list wrote, checking everything."""
        if not isinstance(symbols, list):
            raise DataError(f"a vocabulary must be a list of symbols, found {type(symbols).__name__}")
        for number, symbol in enumerate(symbols):
            if not isinstance(symbol, str):
                raise DataError(f"symbol {number} of the vocabulary is {symbol!r}, expected text")
        return cls(tuple(symbols))

    def to_list(self) -> list[str]:
        return list(self.symbols)

    def __len__(self) -> int:
        return len(self.symbols)

    def __contains__(self, symbol: object) -> bool:
        return symbol in self._numbers

    def encode(self, symbols: Iterable[str], beyond: Sequence[str] = ()) -> list[int]:
        """The k-th of the symbols `beyond` the vocabulary has the number k after its last."""
        number = self._numbers.get
        if not beyond:
            return [number(symbol) or UNKNOWN for symbol in symbols]
        others = {symbol: len(self) + k for k, symbol in enumerate(beyond)}
        return [number(symbol) or others.get(symbol, UNKNOWN) for symbol in symbols]

    def decode(self, numbers: Iterable[int], beyond: Sequence[str] = ()) -> list[str]:
        """Specials are left out, but an unknown symbol is shown as �."""
        every = (*self.symbols, *beyond) if beyond else self.symbols  # no copy of a whole vocabulary for each answer
        return [every[one] if one > END else REPLACEMENT for one in numbers if one > END or one == UNKNOWN]

    def unknown(self, symbols: Iterable[str]) -> list[str]:
        """The symbols that have no number, each once, in the order they appear."""
        return list(dict.fromkeys(filterfalse(self._numbers.__contains__, symbols)))


def _check(symbols: tuple[str, ...]) -> None:
    if symbols[: len(SPECIALS)] != SPECIALS:
        raise DataError(f"a vocabulary must begin with {' '.join(SPECIALS)}, found {' '.join(symbols[:4])}")
    if len(symbols) == len(SPECIALS):
        raise DataError("no symbols: every source was empty?")
    if len(set(symbols)) < len(symbols):
        twice = next(symbol for symbol, count in Counter(symbols).items() if count > 1)
        raise DataError(f"symbol {twice!r} stands twice in the vocabulary")
