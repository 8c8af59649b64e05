"""Any plain text → pictures of its lines, rendered with fonts and bent like handwriting: a start for those who have
little of their own. It is print that was bent, not handwriting."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from regard.data.corpora.about import About
from regard.data.corpora.canvas import chance, png
from regard.data.corpora.fonts import USUAL, Font, Room, check_shaping, find_fonts, folders
from regard.data.corpora.hand import Plane, any_hand, rows_of_ink, to_plane, with_margins, write
from regard.data.corpora.pillow import Image
from regard.data.corpora.plain import read_text
from regard.data.corpora.split import Row, place, tidy
from regard.data.corpora.write import Files, Written, check_target, write_rows
from regard.errors import DataError, UsageError

NAME = "lines"
LONGEST = 60  # characters of a line; longer ones are cut between words
LOWEST = 16  # rows of pixels


class Line(NamedTuple):
    number: int
    text: str
    copy: int  # how often the text was written before
    fonts: Sequence[Font]  # those that have all its characters

    @property
    def path(self) -> str:
        return f"pictures/{self.number:06}.png"


def write_lines(
    text: Path,
    out: Path,
    *,
    fonts: Sequence[str] = (),
    count: int | None = None,
    height: int = 64,
    seed: int = 0,
    dev: float = 0.05,
    test: float = 0.05,
) -> Written:
    """Write pictures and train.tsv, dev.tsv and test.tsv (picture, text; no header) into the folder `out`.

    Without a count there is one picture of every line; with more, lines are written again by other hands.
    """
    check_target(NAME, out, dev, test)
    if height < LOWEST or (count is not None and count < 1):
        raise UsageError(f"height={height}, count={count}: at least {LOWEST} pixels and one picture")
    texts = list(dict.fromkeys(read_lines(text)))
    if not texts:
        raise DataError(f"{text} has no lines; expected one text a line")
    check_shaping(texts)
    faces = load_fonts(fonts, 2 * rows_of_ink(height))
    drawable, missing = _drawable(texts, faces)
    if not drawable:
        raise DataError(
            f"no font has all characters of a line of {text}: {_told(missing)} are missing; {_names(faces)}"
        )
    found = list(lines(drawable, count or len(drawable), seed))
    written = write_rows(
        NAME,
        _about(text, faces),
        [Row(line.text, line.path, line.text) for line in found],
        out,
        seed=seed,
        dev=dev,
        test=test,
        pictures=pictures(found, rooms(drawable), height, seed),
    )
    left = len(texts) - len(drawable)
    skipped = (f"{left:,} of {len(texts):,} lines left out, as no font has all their characters: {_told(missing)}",)
    return written._replace(notes=(_names(faces), *(skipped if left else ())))


def read_lines(text: Path) -> Iterator[str]:
    """Lines of a text; of a .tsv its second column, where pictures have their texts. None is longer than LONGEST."""
    for number, line in enumerate(read_text(text).splitlines(), 1):
        cells = line.split("\t")
        if text.suffix == ".tsv" and line and len(cells) < 2:
            raise DataError(f"{text}, line {number}: expected a picture, a tab and its text, found {line[:40]!r}")
        yield from cut(tidy(cells[1] if text.suffix == ".tsv" and line else line))


def cut(text: str) -> list[str]:
    """Between words, into about equal pieces."""
    pieces = -(-len(text) // LONGEST)
    width = min(LONGEST, len(text) // max(1, pieces) + LONGEST // 6)
    return wrap(text, width, break_long_words=False, break_on_hyphens=False) if pieces > 1 else [text] * pieces


def lines(drawable: Mapping[str, Sequence[Font]], count: int, seed: int) -> Iterator[Line]:
    """All texts in the order of a hash, then all again: fewer pictures are the first of more.

    It is not the hash that splits them: the first of that would all be on one side.
    """
    order = sorted(drawable, key=lambda text: (place(f"line {text}", seed), text))
    for number in range(count):
        text = order[number % len(order)]
        yield Line(number, text, number // len(order), drawable[text])


def pictures(found: Sequence[Line], room: Mapping[Path, Room], height: int, seed: int) -> Files:
    for line in found:
        rng = chance(seed, "line", line.text, line.copy)
        font = line.fonts[int(rng.integers(len(line.fonts)))]
        hand = any_hand(rng)
        ink = scaled(font.ink(line.text, room[font.path]), rows_of_ink(height))
        yield line.path, png(write(with_margins(ink, height, hand), hand, rng))


def rooms(drawable: Mapping[str, Sequence[Font]]) -> dict[Path, Room]:
    """Font → the room that all texts it might write need, so that its letters have one size and one base line."""
    texts: dict[Font, list[str]] = defaultdict(list)
    for text, fonts in drawable.items():
        for font in fonts:
            texts[font].append(text)
    return {font.path: font.room(mine) for font, mine in texts.items()}


def scaled(ink: Image.Image, rows: int) -> Plane:
    columns = max(1, round(ink.width * rows / ink.height))
    return to_plane(ink.resize((columns, rows), Image.Resampling.BOX))


def load_fonts(names: Sequence[str], size: int) -> list[Font]:
    paths = find_fonts(names)
    if not paths:
        raise UsageError(
            f"none of {', '.join(USUAL)} in {', '.join(map(str, folders()))}: name one with --font FILE.ttf"
        )
    return [Font(path, size) for path in paths]


def _drawable(texts: Sequence[str], fonts: Sequence[Font]) -> tuple[dict[str, list[Font]], Counter[str]]:
    """Text → fonts that have all its characters; and characters that left a text without one, by number of texts."""
    found: dict[str, list[Font]] = {}
    missing: Counter[str] = Counter()
    for text in texts:
        lacking = [font.lacks(text) for font in fonts]
        if all(lacking):
            missing.update(sorted(lacking, key=len)[0])
        else:
            found[text] = [font for font, lacks in zip(fonts, lacking, strict=True) if not lacks]
    return found, missing


def _told(missing: Counter[str]) -> str:
    return ", ".join(f"{c} (U+{ord(c):04X})" for c, _ in islice(missing.most_common(), 5))


def _names(fonts: Sequence[Font]) -> str:
    return f"fonts: {', '.join(font.path.name for font in fonts)}"


def _about(text: Path, fonts: Sequence[Font]) -> About:
    return About(
        meaning="pictures of lines, rendered and bent → their texts",
        task="transcribe",
        key="text",
        source=f"{text.name}, {_names(fonts)}",
        licence="that of the text; the fonts have their own",
        credit=f"made of {text.name}",
        columns="picture, text",
    )
