"""A highlighted text for the terminal: words on coloured ground, or in brackets where there is no colour."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from regard.pictures.labels import cells, cut, printable
from regard.pictures.panel import Panel
from regard.pictures.terminal import NARROWEST, RAMP, RESET, steady
from regard.pictures.weights import shares
from regard.pictures.window import Window, window

MOST = 10**6  # the terminal scrolls
STEPS = (0.25, 0.5, 0.75)  # share of the largest weight at which the next bracket begins
PLAIN = 0.05  # share below which a word has no ground
BRIGHT = 6  # from this tone of the ramp on, letters are black
BAR = 6  # columns of the longest bar
UNDERLINE = "\x1b[4m"


def highlighted(panel: Panel, *, width: int = 80, colour: bool = False) -> str:
    """A copy of the text for each row; a sentence begins a line, with its weight on the left."""
    shown = window(panel, MOST, MOST)
    width = max(width, NARROWEST)
    top = float(shown.weights.max(initial=0.0))
    strengths = shares(shown.weights).tolist()
    copies = []
    for t, row in enumerate(strengths):
        words = [
            _word(label, share, (t, j) in shown.marked or j in shown.span, width // 2, colour)
            for j, (label, share) in enumerate(zip(shown.columns, row, strict=True))
        ]
        name = [f"{steady(cut(shown.rows[t], width - 1))}:"] if len(strengths) > 1 else []
        copies.append("\n".join([*name, *_lines(shown, words, width)]))
    return "\n\n".join([*copies, cut(_legend(top, colour), width) if not colour else _legend(top, colour)])


def _word(label: str, share: float, marked: bool, longest: int, colour: bool) -> tuple[str, int]:
    """How a word is written, and how many columns it takes."""
    text = cut(printable(label), longest)
    if colour:
        tone = round(share * (len(RAMP) - 1))
        ground = f"\x1b[48;5;{RAMP[tone]};38;5;{16 if tone >= BRIGHT else 255}m" if share >= PLAIN else ""
        line = UNDERLINE if marked else ""
        return (f"{ground}{line}{steady(text)}{RESET}" if ground or line else steady(text)), cells(text)
    depth = bisect_right(STEPS, share)
    text = f"_{text}_" if marked else text
    return f"{'[' * depth}{steady(text)}{']' * depth}", cells(text) + 2 * depth


def _lines(shown: Window, words: Sequence[tuple[str, int]], width: int) -> Iterator[str]:
    gutter = BAR + 6 if shown.sides else 0
    longest, first = max(shown.sides, default=0.0), 0
    for number, count in enumerate(shown.lines):
        head = _side(shown.sides[number], longest) if shown.sides else ""
        for line in _wrapped(words[first : first + count], width - gutter):
            yield f"{head:{gutter}}{line}".rstrip()
            head = ""
        first += count


def _side(weight: float, longest: float) -> str:
    bar = "█" * round(BAR * weight / longest) if longest > 0 else ""
    return f"{weight:.2f} {bar:<{BAR}} "


def _wrapped(words: Sequence[tuple[str, int]], room: int) -> Iterator[str]:
    line: list[str] = []
    taken = 0
    for text, size in words:
        if line and taken + size > room:
            yield " ".join(line)
            line, taken = [], 0
        line.append(text)
        taken += size + 1
    yield " ".join(line)


def _legend(top: float, colour: bool) -> str:
    if colour:
        scale = "".join(f"\x1b[48;5;{tone}m " for tone in RAMP) + RESET
        return f"0 {scale} {top:.2f}"
    return ", ".join(f"{'[' * n}{']' * n} from {share * top:.2f}" for n, share in enumerate(STEPS, 1))
