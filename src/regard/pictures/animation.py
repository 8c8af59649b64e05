"""The overlay in time: one large picture, lit for one output symbol after the other.

Under a picture stands its caption, above a line of writing its symbols, each at its place; one of them stands out.
"""

from regard.pictures.caption import draw_caption, set_caption, underlined
from regard.pictures.drawing import Box, Drawing, Shape, Turns, Words
from regard.pictures.labels import cells, cut
from regard.pictures.overlay import PAD, TITLE, Frame, ground, lit, outlines, plane_of
from regard.pictures.places import stem, write
from regard.pictures.scene import Plane
from regard.pictures.window import Window

MOST_TURNS = 60
LARGEST = 400.0  # of either side of a picture
NARROWEST = 320.0  # a caption's lines
FONT = 17.0


def animation_of(shown: Window, _: float) -> Drawing:
    """First the picture alone, then a turn for each row."""
    plane = plane_of(shown)
    return _line(shown, plane) if plane.line else _picture(shown, plane)


def _picture(shown: Window, plane: Plane) -> Drawing:
    width, height = round(min(LARGEST, LARGEST * plane.aspect)), round(min(LARGEST, LARGEST / plane.aspect))
    wide = max(width, NARROWEST)
    frame = Frame(PAD + (wide - width) / 2, PAD, width, height)
    caption, foot = set_caption(shown.rows, wide, FONT, centred=True), PAD + height
    groups: list[list[Shape]] = [
        [lit(shown, plane, t, frame), *outlines(shown, plane, t, frame), *underlined(caption, PAD, foot, t)]
        for t in range(len(shown.rows))
    ]
    full = round(wide + 2 * PAD), round(foot + caption.height + 14 + PAD)
    shapes = [Box(0, 0, *full, "paper"), *ground(plane, frame), *draw_caption(caption, PAD, foot), Turns([[], *groups])]
    return Drawing(*full, shapes, cut(shown.title, TITLE))


def _line(shown: Window, plane: Plane) -> Drawing:
    frame, places, symbols = write(shown, plane)
    groups: list[list[Shape]] = [
        [lit(shown, plane, t, frame), *outlines(shown, plane, t, frame), *stem(place, symbol, frame), symbol]
        for t, (place, symbol) in enumerate(zip(places, symbols, strict=True))
    ]
    width = round(max(frame.width, min(cells(shown.title), TITLE) * 9.5) + 2 * PAD)
    height = round(frame.y + frame.height + PAD)
    shapes: list[Shape] = [Box(0, 0, width, height, "paper"), *ground(plane, frame)]
    if shown.title:
        shapes.append(Words(PAD, PAD + 14, cut(shown.title, TITLE), 16, bold=True))
    shapes += [*(symbol._replace(ink="faint") for symbol in symbols), Turns([[], *groups])]
    return Drawing(width, height, shapes, cut(shown.title, TITLE))
