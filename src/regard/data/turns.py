"""A conversation in one text: turns parted by |||."""

from collections.abc import Sequence

TURN = "|||"  # also the symbol between turns: what stands between two of them never holds it


def split_turns(text: str) -> list[str]:
    """Those in which something is said."""
    return [turn.strip() for turn in text.split(TURN) if turn.strip()]


def join_turns(turns: Sequence[str]) -> str:
    return f" {TURN} ".join(turns)


def turn_lengths(symbols: Sequence[str]) -> list[int]:
    """Places of each turn; the symbol between two turns belongs to the first of them."""
    ends = [place for place, symbol in enumerate(symbols, 1) if symbol == TURN or place == len(symbols)]
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
