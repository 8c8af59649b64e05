import io
import re
import xml.etree.ElementTree as ET
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.pictures import Outline, Panel, Plane, draw_svg, save
from regard.pictures.drawing import Box, Drawing, Picture, Words
from regard.pictures.overlay import PAD, tile
from regard.pictures.sheet import sheet
from tests.pictures.drawn import HOSTILE, on_plane, picture, weights
from tests.pictures.test_veil import shares

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["a", "red", "ball"]
PANEL = on_plane(WORDS)


def pictures(drawing: Drawing) -> list[Picture]:
    return [one for one in drawing.shapes if isinstance(one, Picture)]


def names(drawing: Drawing) -> list[Words]:
    return [one for one in drawing.shapes if isinstance(one, Words) and one.kind == "label" and one.bold]


def test_a_copy_for_each_word_and_one_without_a_veil() -> None:
    drawing = sheet([PANEL])
    grounds = [one for one in pictures(drawing) if one.content == picture()]
    veils = [one for one in pictures(drawing) if one.content != picture()]
    assert (len(grounds), len(veils)) == (4, 3)
    for ground, veil, row in zip(grounds[1:], veils, PANEL.weights, strict=True):
        assert veil[:4] == ground[:4]
        found = shares(veil.content)
        dots = found.shape[0] // 2
        middles = found.reshape(2, dots, 3, dots).mean((1, 3))
        table = np.asarray(row).reshape(2, 3) / np.max(row)
        assert middles.sum() == pytest.approx(table.sum(), rel=0.02)
    assert [one.text for one in names(drawing)] == WORDS


@pytest.mark.usefixtures("own_fonts")
def test_a_cell_lies_over_its_part_of_the_picture(tmp_path: Path) -> None:
    """In the file that is painted, as a reader sees it."""
    panel = on_plane(list("abcdef"), weights=np.eye(6))
    drawing = sheet([panel])
    save([panel], tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as found:
        painted = np.asarray(found.convert("L"), dtype=float)
    for cell, veil in enumerate(one for one in pictures(drawing) if one.content != picture()):
        left, top, width, height = (round(2 * number) for number in veil[:4])
        seen = painted[top + 2 : top + height - 2, left + 2 : left + width - 2]
        y, x = (np.argwhere(seen > seen.max() - 5) + 0.5).mean(0) / seen.shape
        row, column = divmod(cell, 3)
        assert (int(y * 2), int(x * 3)) == (row, column)
        assert abs(y - (row + 0.5) / 2) < 0.2
        assert abs(x - (column + 0.5) / 3) < 0.15


def test_the_picture_is_in_the_file_once_and_the_file_is_small() -> None:
    grid = 14
    smooth = np.exp(-((np.mgrid[:14, :14] - 6) ** 2).sum(0) / 20).ravel()
    words = [f"w{number}" for number in range(20)]
    panel = on_plane(words, (grid, grid), weights=np.tile((smooth / smooth.sum()).astype(np.float32), (20, 1)))
    drawn = draw_svg([panel])
    root = ET.fromstring(drawn)
    images = [b64decode(one.attrib["href"].partition(",")[2]) for one in root.iter(f"{SVG}image")]
    assert images.count(picture()) == 1
    assert len(root.findall(f"{SVG}use")) == 21 + 20  # the picture, and veils that are all alike
    numbers = len(root.findtext(f"{SVG}metadata", ""))
    assert len(drawn) - numbers < 80_000
    assert max(map(len, images)) < 5_000


def test_ids_tell_what_they_name() -> None:
    """So two drawings in one page agree, and others do not clash."""
    ids = [re.findall(r' id="([^"]+)"', draw_svg([one])) for one in (PANEL, PANEL, PANEL._replace(title="x"))]
    assert ids[0] == ids[1] == ids[2]
    other = PANEL._replace(scene=Plane(picture(grey=9), 2, 3))
    assert not set(ids[0]) & set(re.findall(r' id="([^"]+)"', draw_svg([other])))


def test_labels_are_text_and_nothing_else() -> None:
    drawn = draw_svg([on_plane([HOSTILE, HOSTILE], title=HOSTILE)])
    assert "<script" not in drawn
    assert not list(ET.fromstring(drawn).iter(f"{SVG}script"))


def test_each_word_is_underlined_in_its_caption() -> None:
    shapes = sheet([PANEL]).shapes
    lines = [one for one in shapes if isinstance(one, Box) and one.ink == "line"]
    assert len(lines) == 3
    for line, word in zip(lines, WORDS, strict=True):
        above = [
            one.text
            for one in shapes
            if isinstance(one, Words) and line.x <= one.x <= line.x + line.width and 0 < line.y - one.y < 5
        ]
        assert above == [word]


def test_rows_that_are_no_words_have_no_caption() -> None:
    looks = on_plane(["look 1", "look 2"], axes=("", "source"))
    drawing = sheet([looks])
    assert [one.text for one in names(drawing)] == ["look 1", "look 2"]
    assert not [one for one in drawing.shapes if isinstance(one, Box) and one.ink == "line"]


def test_copies_follow_the_direction_of_reading() -> None:
    forth = [one.x for one in names(sheet([PANEL]))]
    back = [one.x for one in names(sheet([on_plane(["یہ", "کتاب", "ہے"])]))]
    assert forth == sorted(forth)
    assert back == sorted(back, reverse=True)


def test_boxes_and_marked_cells_are_outlined_where_they_belong() -> None:
    panel = on_plane(WORDS, boxes=(Outline(2, 0.25, 0.5, 0.75, 1.0),), marked=frozenset({(1, 4)}))
    drawing = sheet([panel])
    veils = [one for one in pictures(drawing) if one.content != picture()]
    cell, box = [one for one in drawing.shapes if isinstance(one, Box) and one.kind == "mark"]
    width, height = veils[0].width, veils[0].height
    assert cell[:2] == pytest.approx((veils[1].x + width / 3, veils[1].y + height / 2))
    assert cell[2:4] == pytest.approx((width / 3, height / 2), abs=0.01)
    assert box[:4] == pytest.approx((veils[2].x + width / 4, veils[2].y + height / 2, width / 2, height / 2), abs=0.01)


@pytest.mark.parametrize("aspect", [0.05, 0.5, 1.0, 1.5, 10.0, 40.0])
def test_copies_keep_the_shape_of_the_picture_within_reason(aspect: float) -> None:
    width, height = tile(aspect)
    assert 10 <= width <= 500
    assert 28 <= height <= 265
    if 0.5 <= aspect <= 10:
        assert width / height == pytest.approx(aspect, rel=0.03)


def test_nothing_leaves_the_sheet_and_what_is_left_out_is_said() -> None:
    rows = [f"word{number}" for number in range(70)]
    drawing = sheet([on_plane(rows, title="t " * 80)])
    assert len(names(drawing)) == 60
    assert any("1–60 of 70" in one.text for one in drawing.shapes if isinstance(one, Words))
    for one in drawing.shapes:
        assert 0 <= one.x <= drawing.width  # type: ignore[union-attr]
        assert 0 <= one.y <= drawing.height  # type: ignore[union-attr]
    assert all(one.x + one.width <= drawing.width - PAD + 1 for one in pictures(drawing))


@pytest.mark.usefixtures("own_fonts")
def test_a_transparent_or_large_picture_is_drawn(tmp_path: Path) -> None:
    content = io.BytesIO()
    Image.new("RGBA", (900, 600), (250, 0, 0, 90)).save(content, "PNG")
    panel = Panel(weights(1, 6), ["x"], Plane(b"", 2, 3).labels, scene=Plane(content.getvalue(), 2, 3))
    for ending in (".svg", ".png"):
        save([panel], tmp_path / f"x{ending}")
        assert (tmp_path / f"x{ending}").stat().st_size < 60_000
