"""Pictures as files, by the ending of the name; and the numbers of any such file, read back."""

import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from regard.errors import DataError, UsageError
from regard.files import write_bytes
from regard.pictures.drawing import Drawing, parted
from regard.pictures.markup import draw
from regard.pictures.moving import comment, gif
from regard.pictures.numbers import from_json, to_json
from regard.pictures.page import draw_html, embedded
from regard.pictures.paint import pdf, png
from regard.pictures.panel import Panel
from regard.pictures.scene import Plane
from regard.pictures.sheet import AUTO, sheet


class Picture(NamedTuple):
    panels: Sequence[Panel]
    kind: str
    across: int


class Format(NamedTuple):
    write: Callable[[Picture], bytes]
    numbers: Callable[[bytes], str]  # the JSON in what `write` wrote


def save(panels: Sequence[Panel], path: str | Path, *, kind: str = AUTO, across: int = 0) -> None:
    """Draw into a file: .svg, .png, .pdf, .gif, .html or .json. `across` panels in a row; 0: as many as fit."""
    write_bytes(Path(path), render(panels, ending(path), kind=kind, across=across))


def render(panels: Sequence[Panel], form: str, *, kind: str = AUTO, across: int = 0) -> bytes:
    """What `save` writes, by the ending of FORMATS."""
    return FORMATS[form].write(Picture(panels, kind, across))


def read(path: str | Path) -> list[Panel]:
    """The panels of a file that `save` wrote, with the exact weights."""
    form = FORMATS[ending(path)]
    try:
        return from_json(form.numbers(Path(path).read_bytes()))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, struct.error, ET.ParseError) as error:
        raise DataError(f"{path} holds no weights: it was not written by regard, or changed since") from error


def ending(path: str | Path) -> str:
    """Which format a name asks for."""
    found = Path(path).suffix.lower()
    if found not in FORMATS:
        came = f"{found!r}" if found else "no ending"
        raise UsageError(f"{path}: {came} names no kind of picture; it must be one of {', '.join(FORMATS)}")
    return found


def draw_svg(panels: Sequence[Panel], *, kind: str = AUTO, across: int = 0) -> str:
    return draw(sheet(panels, kind, across), to_json(panels))


def _svg(picture: Picture) -> bytes:
    return draw_svg(picture.panels, kind=picture.kind, across=picture.across).encode()


def _png(picture: Picture) -> bytes:
    return png(_still(picture), to_json(picture.panels))


def _pdf(picture: Picture) -> bytes:
    return pdf(_still(picture), to_json(picture.panels))


def _still(picture: Picture) -> Drawing:
    drawing, turns = parted(sheet(picture.panels, picture.kind, picture.across))
    if turns:
        raise UsageError("PNG and PDF do not move: save an animation as .svg, .gif or .html, or draw an overlay")
    return drawing


def _gif(picture: Picture) -> bytes:
    """What can move does."""
    moves = picture.kind in (AUTO, "overlay") and any(isinstance(panel.scene, Plane) for panel in picture.panels)
    kind = "animation" if moves else picture.kind
    return gif(sheet(picture.panels, kind, picture.across), to_json(picture.panels))


def _html(picture: Picture) -> bytes:
    return draw_html(picture.panels, kind=picture.kind, across=picture.across).encode()


def _json(picture: Picture) -> bytes:
    return (to_json(picture.panels) + "\n").encode()


def _from_svg(content: bytes) -> str:
    return ET.fromstring(content).findtext("{http://www.w3.org/2000/svg}metadata", "")


def _from_png(content: bytes) -> str:
    texts = [body for name, body in _chunks(content) if name == b"tEXt" and body.startswith(b"regard\0")]
    return texts[0].removeprefix(b"regard\0").decode("ascii") if texts else ""


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a PNG: length, name, body, checksum, after a signature of eight bytes."""
    place = 8
    while place < len(content):
        length, name = struct.unpack_from(">I4s", content, place)
        yield name, content[place + 8 : place + 8 + length]
        place += length + 12


def _from_pdf(content: bytes) -> str:
    """A string in parentheses, where a backslash stands before parentheses and backslashes."""
    found = re.search(rb"/Keywords\s*\(((?:[^\\()]|\\.)*)\)", content, re.DOTALL)
    return re.sub(rb"\\(.)", rb"\1", found[1], flags=re.DOTALL).decode("ascii") if found else ""


FORMATS = {
    ".svg": Format(_svg, _from_svg),
    ".png": Format(_png, _from_png),
    ".pdf": Format(_pdf, _from_pdf),
    ".gif": Format(_gif, comment),
    ".html": Format(_html, lambda content: embedded(content.decode())),
    ".json": Format(_json, bytes.decode),
}
