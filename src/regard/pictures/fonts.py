"""Which of the system's fonts can draw a label, for the pictures that matplotlib paints."""

import logging
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

if TYPE_CHECKING:
    from matplotlib.font_manager import FontEntry

# Tried in this order; fonts that are not named come after these, by name.
LIKED = (
    *("Noto Sans", "Segoe UI", "Helvetica Neue", "Liberation Sans", "Arial"),
    *("Noto Sans Arabic", "Noto Naskh Arabic", "Noto Sans Hebrew"),  # before DejaVu, whose Arabic and Hebrew are plain
    *("DejaVu Sans", "Noto Sans Devanagari", "Noto Sans CJK JP", "Hiragino Sans", "Yu Gothic"),
    *("Noto Sans Symbols", "Noto Sans Symbols2", "Noto Sans Math", "Noto Emoji", "Symbola"),
)
INVISIBLE = "\u200b\u200c\u200d\ufe0e\ufe0f"  # join or part letters, choose a form; fonts need no glyph for them
UNFIT = ("LastResort", "Last Resort", "Adobe Blank", "Unjoined", "Nastaliq")  # boxes for all; letters apart; too tall

SURE = "DejaVu Sans"  # comes with matplotlib
BOX = "□"
REGULAR, BOLD = 400, 700

logger = logging.getLogger("regard.pictures")
_missed: set[str] = set()


class Lettering(NamedTuple):
    text: str  # a box stands where no font has the character
    families: list[str]
    weight: int


def lettering(text: str, bold: bool = False) -> Lettering:
    """How to draw a text: each word by one font, so that its letters join; signs by whichever has them."""
    names: list[str] = []
    missing: set[str] = set()
    for word in text.split():
        seen = [character for character in word if character not in INVISIBLE]
        letters = frozenset(character for character in seen if category(character)[0] in "LM")
        missing |= _add(letters, names) | _add(frozenset(seen) - letters, names)
    _warn(missing)
    names += [] if SURE in names else [SURE]
    shown = "".join(BOX if character in missing else character for character in text)
    return Lettering(shown, names, BOLD if bold and all(map(_has_bold, names)) else REGULAR)


def _add(wanted: frozenset[str], names: list[str]) -> frozenset[str]:
    """Name the fonts that the characters need and that are not named yet; the characters that no font has."""
    while wanted and not any(wanted <= _has(name) for name in names):
        name, has = _best(wanted)
        if not has:
            return wanted
        names += [] if name in names else [name]
        wanted -= has
    return frozenset()


@lru_cache(maxsize=4096)  # a service draws whatever words it is sent
def _best(wanted: frozenset[str]) -> tuple[str, frozenset[str]]:
    """The first font in the order of liking that has all, or else the one that has most."""
    name, most = SURE, frozenset[str]()
    for entry in _entries():
        has = wanted & _characters(entry.fname, entry.index)
        if len(has) > len(most):
            name, most = entry.name, has
        if len(most) == len(wanted):
            break
    return name, most


@cache
def _entries() -> "Sequence[FontEntry]":
    """Upright fonts of regular weight, liked ones first; only outlines: matplotlib cannot draw colour bitmaps."""
    from matplotlib.font_manager import fontManager

    fit = [
        entry
        for entry in fontManager.ttflist
        if entry.style == "normal" and entry.weight in (REGULAR, "normal", "regular") and entry.size == "scalable"
        if not any(word in entry.name for word in UNFIT)
    ]
    order = {name: place for place, name in enumerate(LIKED)}
    return sorted(fit, key=lambda entry: (order.get(entry.name, len(LIKED)), entry.name, entry.fname))


@cache
def _has(family: str) -> frozenset[str]:
    found = [entry for entry in _entries() if entry.name == family]
    return _characters(found[0].fname, found[0].index) if found else frozenset()


@cache
def _has_bold(family: str) -> bool:
    from matplotlib.font_manager import fontManager

    return any(entry.name == family and entry.weight in (BOLD, "bold") for entry in fontManager.ttflist)


@cache
def _characters(file: str, index: int) -> frozenset[str]:
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(file, face_index=index)
        return frozenset(map(chr, font.get_charmap())) if font.scalable else frozenset()
    except (OSError, RuntimeError):  # taken away since the list was made, or no font at all
        return frozenset()


def _warn(missing: Iterable[str]) -> None:
    """Once for each character in the life of the program."""
    new = sorted(set(missing) - _missed)
    if new:
        _missed.update(new)
        named = " ".join(f"{character} (U+{ord(character):04X})" for character in new[:10])
        more = f" and {len(new) - 10} more" if len(new) > 10 else ""
        logger.warning("no font of this system has %s%s: boxes stand for them; Noto fonts have them", named, more)
