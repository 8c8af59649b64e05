"""Fonts by path or by name, and which characters each can draw."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import NamedTuple
from unicodedata import bidirectional, category, name

from regard.data.corpora.pillow import Image, ImageDraw, ImageFont, features
from regard.errors import UsageError

ENDINGS = (".ttf", ".otf", ".ttc")
NOBODY = "\U0010ffff"  # no character and never one: what a font draws for it, it draws for all that it lacks
# Looked for when none is named: Latin, Greek and Cyrillic, Arabic, Devanagari
USUAL = (
    *("DejaVu Sans", "DejaVu Serif", "Noto Sans", "Noto Serif", "Liberation Serif"),
    *("Noto Nastaliq Urdu", "Noto Naskh Arabic", "Noto Sans Devanagari", "Noto Serif Devanagari", "Lohit Devanagari"),
)


class Box(NamedTuple):
    """Of ink, as seen from where the base line begins; above it is negative."""

    left: float
    top: float
    right: float
    bottom: float


class Room(NamedTuple):
    above: float  # the base line
    below: float


class Font:
    """A font file at one size."""

    def __init__(self, path: Path, size: int):
        self.path = path
        try:
            self.face = ImageFont.truetype(path, size)
        except OSError as error:
            raise UsageError(f"{path} is not a font that can be scaled: {error}; give a .ttf, .otf or .ttc") from error
        self._plain = ImageFont.truetype(path, 32, layout_engine=ImageFont.Layout.BASIC)
        self._none = self._drawn(NOBODY)
        self._lacks = cache(self._is_lacking)

    def lacks(self, text: str) -> list[str]:
        """The characters of a text that would be drawn as a box or not at all."""
        return [character for character in dict.fromkeys(text) if self._lacks(character)]

    def room(self, texts: Iterable[str]) -> Room:
        """What all these texts need, but no more than a line of the font has."""
        boxes = [self._box(text) for text in texts]
        above, below = self.face.getmetrics()
        return Room(min(above, max(-box.top for box in boxes)), min(below, max(box.bottom for box in boxes)))

    def ink(self, text: str, room: Room) -> Image.Image:
        """The text on one line, in this room or, where its ink is higher, in more."""
        left, top, right, bottom = self._box(text)
        above, below = max(room.above, -top), max(room.below, bottom)
        ink = Image.new("L", (max(1, ceil(right - left)), max(1, ceil(above + below))))
        ImageDraw.Draw(ink).text((-left, above), text, 255, self.face, anchor="ls", direction=_direction(text))
        return ink

    def _box(self, text: str) -> Box:
        return Box(*self.face.getbbox(text, anchor="ls", direction=_direction(text)))

    def _is_lacking(self, character: str) -> bool:
        return not _is_silent(character) and self._drawn(character) in (self._none, b"")

    def _drawn(self, character: str) -> bytes:
        mask = self._plain.getmask(character)
        return bytes(mask) if mask.getbbox() else b""


def needs_shaping(text: str) -> bool:
    """Whether letters change or move beside others: right-to-left scripts, and those with vowel signs of their own."""
    return any(
        bidirectional(c) in ("R", "AL") or (category(c) in ("Mc", "Mn") and not name(c, "").startswith("COMBINING"))
        for c in text
    )


def check_shaping(texts: Iterable[str]) -> None:
    if not features.check("raqm") and any(map(needs_shaping, texts)):
        raise UsageError(
            "the text is in a script whose letters join, and this Pillow cannot join them (it lacks raqm): "
            "pip install --force-reinstall pillow, or install libraqm and fribidi"
        )


def is_right_to_left(text: str) -> bool:
    """By its first letter that has a direction, as the Unicode bidirectional algorithm has it."""
    return next((c for c in map(bidirectional, text) if c in ("L", "R", "AL")), "L") != "L"


def find_fonts(names: Sequence[str]) -> list[Path]:
    """Of each a file, the fonts of a folder, or those in the usual folders whose file is called so (`*` is a wildcard).

    Without names: those of USUAL that there are.
    """
    if not names:
        return [path for each in USUAL for path in _called(each)]
    return list(dict.fromkeys(path for each in names for path in _find(each)))


def _find(asked: str) -> list[Path]:
    path = Path(asked).expanduser()
    if path.is_file():
        return [path]
    found = list(_inside(path)) if path.is_dir() else _called(asked)
    if not found:
        near = get_close_matches(_bare(asked), {_bare(one.stem): one.stem for one in installed()}, n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"there is no font {asked!r}, neither a file nor in {_told()}; {hint}Give the path of a .ttf")
    return found


def _called(asked: str) -> list[Path]:
    bare = _bare(asked)
    fitting = [one for one in installed() if any(fnmatchcase(_bare(one.stem), bare + end) for end in ("", "regular"))]
    return list({_bare(one.stem): one for one in reversed(fitting)}.values())[::-1]  # a font that is twice there: first


def installed() -> list[Path]:
    return [font for folder in folders() for font in _inside(folder)]


def folders() -> list[Path]:
    """Where systems keep fonts: a user's own before everybody's, last those that come with matplotlib."""
    home, environment = Path.home(), os.environ
    if sys.platform == "darwin":
        places = [home / "Library/Fonts", Path("/Library/Fonts"), Path("/System/Library/Fonts")]
    elif sys.platform == "win32":
        local, windows = environment.get("LOCALAPPDATA", ""), environment.get("WINDIR", "C:/Windows")
        places = [Path(local, "Microsoft/Windows/Fonts"), Path(windows, "Fonts")]
    else:
        own = environment.get("XDG_DATA_HOME") or str(home / ".local/share")
        shared = environment.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
        places = [home / ".fonts", *(Path(each, "fonts") for each in [own, *shared.split(":")])]
    matplotlib = find_spec("matplotlib")
    if matplotlib is not None and matplotlib.origin is not None:
        places.append(Path(matplotlib.origin).parent / "mpl-data/fonts/ttf")
    return [place for place in places if place.is_dir()]


def _inside(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in ENDINGS)


def _told() -> str:
    return ", ".join(map(str, folders())) or "any of the usual folders"


def _bare(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum() or c in "*?")


def _direction(text: str) -> str | None:
    if not features.check("raqm"):
        return None
    return "rtl" if is_right_to_left(text) else "ltr"


def _is_silent(character: str) -> bool:
    """Spaces, joiners and marks of direction have no ink in any font."""
    return category(character) in ("Zs", "Cf")
