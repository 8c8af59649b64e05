"""A drawing as SVG: one file that any browser opens, with every weight under the pointer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from xml.sax.saxutils import escape, quoteattr

from regard.pictures.drawing import INKS, Box, Drawing, Picture, Ribbon, Shape, Turns, Words
from regard.pictures.labels import leftwards
from regard.pictures.raster import data_url

SECONDS = 1.2  # of a turn
FONTS = 'system-ui, "Noto Sans", sans-serif'


def draw(drawing: Drawing, numbers: str = "") -> str:
    """`numbers` are kept in the file, where `regard.pictures.read` finds them.

    No ids but those of pictures used several times, which tell what these are: many drawings fit into one page.
    """
    width, height = f"{drawing.width:.0f}", f"{drawing.height:.0f}"
    name = drawing.name or "attention weights"
    shared = _shared(drawing.shapes)
    moves = any(isinstance(shape, Turns) for shape in drawing.shapes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="regard-map" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(name)}>',
        f"<title>{escape(name)}</title>\n<style>{STYLE}{STILL if moves else ''}</style>",
        *([f"<metadata>{escape(numbers)}</metadata>"] if numbers else []),
        *(["<defs>", *(_image(one, name) for name, one in shared.items()), "</defs>"] if shared else []),
        *(_element(shape, shared) for shape in drawing.shapes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _style() -> str:
    """The picture brings its own paper, so it is legible on any page, and turns dark where readers asked for it."""
    light = [_rules(name, ink.light) for name, ink in INKS.items()]
    dark = [_rules(name, ink.dark) for name, ink in INKS.items()]
    return "\n".join(
        [
            f".regard-map {{ font-family: {FONTS}; max-width: 100%; height: auto }}",
            *light,
            ".regard-map .mark { fill: none; stroke-width: 2 } .regard-map .ribbon { fill: none }",
            ".regard-map .cell:hover { stroke: #e07a1f; stroke-width: 2 }",
            ".regard-map .ribbon:hover { stroke: #e07a1f; stroke-opacity: 1 }",
            "@media (prefers-color-scheme: dark) {",
            *dark,
            "}",
        ]
    )


def _rules(name: str, colour: str) -> str:
    if name == "mark":
        return f".regard-map .mark {{ stroke: {colour} }}"
    strokes = f" .regard-map .ribbon.{name} {{ stroke: {colour} }}" if name == "w" else ""
    return f".regard-map .{name}:not(.ribbon) {{ fill: {colour} }}{strokes}"


STYLE = _style()
STILL = """
@media (prefers-reduced-motion: reduce) {
.regard-map .turn { visibility: hidden !important }
.regard-map .turn.first { visibility: visible !important }
}"""  # where readers asked for that


def _element(shape: Shape, shared: Mapping[str, Picture]) -> str:
    if isinstance(shape, Box):
        return _box(shape)
    if isinstance(shape, Picture):
        return _use(shape) if _name(shape) in shared else _image(shape)
    if isinstance(shape, Turns):
        return "\n".join(_turn(shape, number, shared) for number in range(len(shape.groups)))
    return _ribbon(shape) if isinstance(shape, Ribbon) else _words(shape)


def _shared(shapes: Iterable[Shape]) -> dict[str, Picture]:
    """Pictures that are used more than once, at (0, 0) and by name."""
    found = list(_pictures(shapes))
    often = Counter(map(_name, found))
    return {_name(one): one._replace(x=0, y=0, about="") for one in found if often[_name(one)] > 1}


def _pictures(shapes: Iterable[Shape]) -> Iterator[Picture]:
    for shape in shapes:
        if isinstance(shape, Picture):
            yield shape
        elif isinstance(shape, Turns):
            yield from (one for group in shape.groups for one in _pictures(group))


def _name(picture: Picture) -> str:
    """The same for the same picture in the same size, wherever it is: two drawings in one page cannot disagree."""
    mark = sha256(f"{picture.width:.1f} {picture.height:.1f} ".encode() + picture.content).hexdigest()
    return f"regard-{mark[:16]}"


def _image(picture: Picture, name: str = "") -> str:
    named = f' id="{name}"' if name else ""
    place = f'x="{picture.x:.1f}" y="{picture.y:.1f}" width="{picture.width:.1f}" height="{picture.height:.1f}"'
    body = f'preserveAspectRatio="none" href="{data_url(picture.content)}"'
    return f"<image{named} {place} {body}{_about('image', picture.about)}"


def _use(picture: Picture) -> str:
    return f'<use href="#{_name(picture)}" x="{picture.x:.1f}" y="{picture.y:.1f}"{_about("use", picture.about)}'


def _turn(turns: Turns, number: int, shared: Mapping[str, Picture]) -> str:
    """Seen for its second of so many; where nothing moves, the first stays."""
    count = len(turns.groups)
    begin, end = number / count, (number + 1) / count
    seen_at = [(0.0, "hidden")] * (number > 0) + [(begin, "visible")] + [(end, "hidden")] * (number + 1 < count)
    times, values = ";".join(f"{time:.4f}" for time, _ in seen_at), ";".join(value for _, value in seen_at)
    clock = (
        f'<animate attributeName="visibility" calcMode="discrete" values="{values}" keyTimes="{times}" '
        f'dur="{count * SECONDS:g}s" repeatCount="indefinite"/>'
    )
    kind, seen = ("turn first", "visible") if number == 0 else ("turn", "hidden")
    shapes = [_element(shape, shared) for shape in turns.groups[number]]
    return "\n".join([f'<g class="{kind}" visibility="{seen}">', clock if count > 1 else "", *shapes, "</g>"])


def _box(box: Box) -> str:
    place = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:g}" height="{box.height:g}"'
    opacity = "" if box.opacity == 1 and box.kind != "cell" else f' fill-opacity="{box.opacity:.3f}"'
    corner = ' rx="8"' if box.ink == "paper" else ""
    return f'<rect class="{_classes(box.ink, box.kind)}" {place}{opacity}{corner}{_about("rect", box.about)}'


def _ribbon(ribbon: Ribbon) -> str:
    (x1, y1), (x2, y2) = ribbon.bends()
    way = f"M{ribbon.x:.1f} {ribbon.y:.1f} C{x1:.1f} {y1:.1f} {x2:.1f} {y2:.1f} {ribbon.to_x:.1f} {ribbon.to_y:.1f}"
    stroke = f'stroke-width="{ribbon.thickness:.2f}" stroke-opacity="{ribbon.opacity:.3f}"'
    return f'<path class="{ribbon.ink} ribbon" d="{way}" {stroke}{_about("path", ribbon.about)}'


def _words(words: Words) -> str:
    """Start and end change places in right-to-left text."""
    backwards = leftwards(words.text)
    start, end = ("end", "start") if backwards else ("start", "end")
    anchor = {"left": start, "middle": "middle", "right": end}[words.edge]
    attributes = [
        f'class="{_classes(words.ink, words.kind)}" x="{words.x:.1f}" y="{words.y:.1f}" text-anchor="{anchor}"',
        'direction="rtl"' if backwards else "",
        f'font-size="{words.size:.1f}"',
        'font-weight="600"' if words.bold else "",
        f'transform="rotate({-words.turn:g} {words.x:.1f} {words.y:.1f})"' if words.turn else "",
    ]
    about = f"<title>{escape(words.about)}</title>" if words.about else ""
    return f"<text {' '.join(filter(None, attributes))}>{escape(words.text)}{about}</text>"


def _classes(ink: str, kind: str) -> str:
    return ink if kind in ("", ink) else f"{ink} {kind}"


def _about(tag: str, about: str) -> str:
    return f"><title>{escape(about)}</title></{tag}>" if about else "/>"
