"""What a picture is made of before it has a format: boxes, ribbons, words and pictures at their places, in pixels.

SVG, PNG and PDF are written from the same drawing, so that they cannot disagree.
"""

from typing import NamedTuple


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    ink: str  # which colour: a name in INKS
    opacity: float = 1.0
    kind: str = ""  # "cell": one weight; "mark": only its outline is drawn
    about: str = ""  # what the pointer shows


class Ribbon(NamedTuple):
    """A line between two places that leaves and arrives straight; flat ones join sides, others join top and bottom."""

    x: float
    y: float
    to_x: float
    to_y: float
    thickness: float
    ink: str
    opacity: float = 1.0
    flat: bool = False
    about: str = ""

    def bends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The two places that pull the curve: Bézier's."""
        if self.flat:
            middle = (self.x + self.to_x) / 2
            return (middle, self.y), (middle, self.to_y)
        middle = (self.y + self.to_y) / 2
        return (self.x, middle), (self.to_x, middle)


class Words(NamedTuple):
    x: float
    y: float  # where letters stand
    text: str
    size: float
    ink: str = "ink"
    edge: str = "left"  # the side of the text that stands at x: left, middle or right
    turn: float = 0.0  # degrees, against the clock
    bold: bool = False
    kind: str = ""  # "label": a symbol of the source or of the output
    about: str = ""


class Picture(NamedTuple):
    """A photograph, a frame, or a veil over one."""

    x: float
    y: float
    width: float
    height: float
    content: bytes  # PNG or JPEG
    about: str = ""


class Turns(NamedTuple):
    """Shapes that are seen one group after the other, round and round."""

    groups: "list[list[Shape]]"


Shape = Box | Ribbon | Words | Picture | Turns


class Drawing(NamedTuple):
    width: float
    height: float
    shapes: list[Shape]
    name: str = ""


class Ink(NamedTuple):
    light: str
    dark: str  # where readers asked for dark pages


INKS = {
    "paper": Ink("#ffffff", "#14171c"),
    "ink": Ink("#1f2430", "#e6e8ec"),
    "faint": Ink("#6b7280", "#9aa3af"),
    "grid": Ink("#e9edf4", "#232932"),
    "w": Ink("#12408f", "#9fd0ff"),
    "glow": Ink("#6ea8ff", "#1d5cb8"),  # the ground of a word: letters stay legible on the whole of it
    "line": Ink("#d9480f", "#ffa94d"),  # under a word, and where a symbol stands on a line of writing
    "mark": Ink("#d9480f", "#ff6b6b"),
}


def moved(shape: Shape, x: float, y: float) -> Shape:
    if isinstance(shape, Turns):
        return Turns([[moved(one, x, y) for one in group] for group in shape.groups])
    if isinstance(shape, Ribbon):
        return shape._replace(x=shape.x + x, y=shape.y + y, to_x=shape.to_x + x, to_y=shape.to_y + y)
    return shape._replace(x=shape.x + x, y=shape.y + y)


def parted(drawing: Drawing) -> tuple[Drawing, list[Drawing]]:
    """What stays, and what is seen over it in each turn; what has fewer turns than others stays at its last."""
    still: list[Shape] = [shape for shape in drawing.shapes if not isinstance(shape, Turns)]
    moving = [shape.groups for shape in drawing.shapes if isinstance(shape, Turns)]
    over = [
        [shape for groups in moving for shape in groups[min(turn, len(groups) - 1)]]
        for turn in range(max(map(len, moving), default=0))
    ]
    return drawing._replace(shapes=still), [drawing._replace(shapes=shapes) for shapes in over]
