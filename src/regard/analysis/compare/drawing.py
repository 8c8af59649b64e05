"""Learning curves as SVG: a line for the mean of each recipe, a band from its lowest to its highest seed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from regard.analysis.compare.curves import LOSS, Curve, Point
from regard.metrics import LOWER_IS_BETTER
from regard.pictures.labels import cut, printable

PAD, LEFT, TOP = 16, 66, 68
WIDTH, HEIGHT = 660, 300  # of the field the lines are in
ROW = 22  # height of a line of the legend
LONGEST = 74  # columns of a recipe's name
EXPLAINED = "line: mean over seeds; band: lowest to highest seed; dashed: some seeds have stopped early"
MARKS = (  # around 0, 0: with the colours they tell forty recipes apart
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "M-4,-4h8v8h-8z",
    "M0,-5l5,9h-10z",
    "M0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z",
    "M0,5l5,-9h-10z",
)
LIGHT = ("#1d5fc4", "#c2501a", "#1b8458", "#8a3fb0", "#a07400", "#bf2560", "#0b7f8f", "#5b6470")
DARK = ("#7db4ff", "#ff9d63", "#5fd3a0", "#d29bf2", "#e6bd45", "#ff8ab5", "#55cfe0", "#b9c2cf")

# The picture brings its own paper, so it is legible on any page, and turns dark where readers asked for it.
STYLE = "\n".join(
    [
        '.regard-curves { font-family: system-ui, "Noto Sans", sans-serif }',
        ".regard-curves .paper { fill: #ffffff } .regard-curves .ink { fill: #1f2430 }",
        ".regard-curves .faint { fill: #6b7280 } .regard-curves .grid { stroke: #e3e8f0 }",
        ".regard-curves .line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round }",
        ".regard-curves .fewer { stroke-dasharray: 5 4 } .regard-curves .band { fill: currentColor; opacity: 0.16 }",
        ".regard-curves .mark { fill: currentColor }",
        *(f".regard-curves .c{number} {{ color: {colour} }}" for number, colour in enumerate(LIGHT)),
        "@media (prefers-color-scheme: dark) {",
        ".regard-curves .paper { fill: #14171c } .regard-curves .ink { fill: #e6e8ec }",
        ".regard-curves .faint { fill: #9aa3af } .regard-curves .grid { stroke: #2a313b }",
        *(f".regard-curves .c{number} {{ color: {colour} }}" for number, colour in enumerate(DARK)),
        "}",
    ]
)


class Field(NamedTuple):
    """Where epochs and values stand on the paper."""

    first: int
    last: int
    low: float
    high: float

    def x(self, epoch: float) -> float:
        return LEFT + WIDTH * ((epoch - self.first) / (self.last - self.first) if self.last > self.first else 0.5)

    def y(self, value: float) -> float:
        return TOP + HEIGHT * (self.high - value) / (self.high - self.low)


def draw_curves(curves: Mapping[str, Curve], *, title: str = "") -> str:
    """Curves by the names of their recipes; all of one metric."""
    shown = {name: curve for name, curve in curves.items() if curve.points}
    points = [point for curve in shown.values() for point in curve.points]
    metric = next(iter(shown.values())).metric if shown else LOSS
    steps = ticks(min((one.low for one in points), default=0.0), max((one.high for one in points), default=1.0))
    epochs = [one.epoch for one in points] or [1]
    field = Field(min(epochs), max(epochs), steps[0], steps[-1])
    parts = [
        _opening(len(shown), f"{title}: {metric} by epoch" if title else f"{metric} by epoch"),
        *_axes(field, steps, metric),
        *(_band(field, number, curve) for number, curve in enumerate(shown.values())),  # below all lines
        *(line for number, (name, curve) in enumerate(shown.items()) for line in _curve(field, number, name, curve)),
        *(line for number, name in enumerate(shown) for line in _legend(number, name)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """At most about so many round numbers; the first is not above `low`, the last not below `high`."""
    span = max(high - low, abs(high) * 1e-6, 1e-9)
    power = 10 ** math.floor(math.log10(span / most))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, max(last, first + 1) + 1)]


def _opening(recipes: int, title: str) -> str:
    width, height = LEFT + WIDTH + PAD + 8, TOP + HEIGHT + 52 + ROW * recipes + PAD
    heading = cut(" ".join(printable(word) for word in title.split()), 84)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="regard-curves" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(heading)}>\n'
        f"<title>{escape(heading)}</title>\n<style>\n{STYLE}\n</style>\n"
        f'<rect class="paper" width="{width}" height="{height}" rx="8"/>\n'
        + _text(PAD, PAD + 14, heading, "start", 'class="ink" font-size="16" font-weight="600"')
        + _text(PAD, PAD + 33, EXPLAINED, "start", 'class="faint" font-size="12"')
    )


def _axes(field: Field, steps: Sequence[float], metric: str) -> Iterator[str]:
    right, bottom = LEFT + WIDTH, TOP + HEIGHT
    for value in steps:
        y = field.y(value)
        yield f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(LEFT - 8, y + 4, f"{value:g}", "end", 'class="faint" font-size="12"')
    for epoch in sorted({round(one) for one in ticks(field.first, field.last, 12)}):
        if field.first <= epoch <= field.last:
            yield _text(field.x(epoch), bottom + 18, str(epoch), "middle", 'class="faint" font-size="12"')
    yield _text(LEFT + WIDTH / 2, bottom + 36, "epoch", "middle", 'class="faint" font-size="12"')
    way = "lower" if metric == LOSS or metric in LOWER_IS_BETTER else "higher"
    turned = f'class="faint" font-size="12" transform="rotate(-90 {PAD + 6} {TOP + HEIGHT / 2:.0f})"'
    yield _text(PAD + 6, TOP + HEIGHT / 2, f"{metric} on the dev pairs ({way} is better)", "middle", turned)


def _band(field: Field, number: int, curve: Curve) -> str:
    points = curve.points
    edge = [(one.epoch, one.high) for one in points] + [(one.epoch, one.low) for one in reversed(points)]
    return f'<polygon class="band {_colour(number)}" points="{_path(field, edge)}"/>'


def _curve(field: Field, number: int, name: str, curve: Curve) -> Iterator[str]:
    points, together = curve.points, curve.together
    yield f'<g class="{_colour(number)}"><title>{escape(_short(name))}</title>'
    yield f'<polyline class="line" points="{_path(field, _means(points[:together]))}"/>'
    if together < len(points):
        yield f'<polyline class="line fewer" points="{_path(field, _means(points[max(together - 1, 0) :]))}"/>'
    yield _mark(number, field.x(points[-1].epoch), field.y(points[-1].mean))
    yield "</g>"


def _means(points: Sequence[Point]) -> list[tuple[int, float]]:
    return [(point.epoch, point.mean) for point in points]


def _path(field: Field, places: Sequence[tuple[int, float]]) -> str:
    return " ".join(f"{field.x(epoch):.1f},{field.y(value):.1f}" for epoch, value in places)


def _legend(number: int, name: str) -> Iterator[str]:
    y = TOP + HEIGHT + 60 + ROW * number
    yield f'<g class="{_colour(number)}">'
    yield f'<line class="line" x1="{LEFT}" x2="{LEFT + 32}" y1="{y}" y2="{y}"/>{_mark(number, LEFT + 16, y)}'
    yield _text(LEFT + 42, y + 4, _short(name), "start", 'class="ink name" font-size="13"') + "</g>"


def _mark(number: int, x: float, y: float) -> str:
    return f'<path class="mark" d="{MARKS[number % len(MARKS)]}" transform="translate({x:.1f} {y:.1f})"/>'


def _colour(number: int) -> str:
    return f"c{number % len(LIGHT)}"


def _short(name: str) -> str:
    return cut(printable(name), LONGEST)


def _text(x: float, y: float, text: str, anchor: str, attributes: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {attributes}>{escape(text)}</text>'
