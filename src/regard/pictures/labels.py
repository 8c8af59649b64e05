"""What a label looks like before it is drawn: printable, measured, cut to size."""

import re
from collections.abc import Sequence
from unicodedata import bidirectional, category, east_asian_width

from regard.data.text import JOINER

BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
BLANK = "␣"
BETWEEN = re.compile(f"(?<=[^{BLANK}]){BLANK}+(?=[^{BLANK}])")  # words of a name
EMOJI_SELECTOR = "\ufe0f"
LEFT_TO_RIGHT = "\u200e"  # takes no room; Arabic or Hebrew beside it does not swap places with its neighbours


def printable(label: str) -> str:
    """Nothing that could move the cursor or turn the line round; lone marks become visible, and blanks at an end."""
    if not label:
        return "∅"
    text = "".join(map(_shown, label.strip(JOINER) or label))  # which side a mark touches is for machines
    text = BETWEEN.sub(" ", text)
    if category(text[0]).startswith("M"):
        return f"◌{text}"
    return text if cells(text) else _escaped(text)


def cells(text: str) -> int:
    """Columns the text takes in a terminal: marks none, East Asian letters and emoji two, all others one."""
    return sum(_cells(character) for character in text)


def cut(text: str, width: int) -> str:
    """The text, or as much of its start as leaves room for an ellipsis; a mark stays with its letter."""
    if cells(text) <= width:
        return text
    room, kept = width - 1, ""
    for character in text:
        room -= _cells(character)
        if room < 0:
            break
        kept += character
    return f"{kept}…"


def leftwards(text: str) -> bool:
    """Whether the text is written from right to left: its first letter decides."""
    strong = (side for side in map(bidirectional, text) if side in ("L", "R", "AL"))
    return next(strong, "L") != "L"


def widest(labels: Sequence[str]) -> int:
    return max(map(cells, labels), default=0)


def _shown(character: str) -> str:
    kind = category(character)
    if kind == "Zs":
        return BLANK
    if kind in ("Cc", "Cs", "Cn", "Co", "Zl", "Zp") or character in BIDI_CONTROLS or character in "\u00ad\ufeff":
        return _escaped(character)
    return character


def _escaped(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii")


def _cells(character: str) -> int:
    if character == EMOJI_SELECTOR:
        return 1  # makes the sign before it, one column wide, a picture of two
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
