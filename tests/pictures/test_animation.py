import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.errors import MissingExtra, UsageError
from regard.pictures import Panel, draw_svg, read, save
from regard.pictures.drawing import Box, Picture, Turns, Words, parted
from regard.pictures.sheet import sheet
from tests.pictures.drawn import HOSTILE, on_clip, on_plane

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["a", "red", "ball"]
PANEL = on_plane(WORDS)


def test_the_picture_alone_and_then_a_turn_for_each_word() -> None:
    (moving,) = [one for one in sheet([PANEL], "animation").shapes if isinstance(one, Turns)]
    assert moving.groups[0] == []
    for word, group in zip(WORDS, moving.groups[1:], strict=True):
        assert len([one for one in group if isinstance(one, Picture)]) == 1
        (line,) = [one for one in group if isinstance(one, Box)]
        (label,) = [one for one in group if isinstance(one, Words)]
        assert label.text == word
        assert line.x < label.x < line.x + line.width


def test_on_a_line_each_symbol_has_its_turn_at_its_place() -> None:
    panel = on_plane(list("کتاب"), (2, 12), weights=np.eye(24)[[10, 7, 4, 1]], line=True)
    still, over = parted(sheet([panel], "animation"))
    faint = [one for one in still.shapes if isinstance(one, Words) and one.kind == "label"]
    lit = [one for turn in over for one in turn.shapes if isinstance(one, Words)]
    assert [one._replace(ink="ink") for one in faint] == lit
    assert [one.x for one in lit] == sorted((one.x for one in lit), reverse=True)


def test_turns_come_one_after_the_other_and_fill_the_time() -> None:
    """At any moment one group is seen."""
    root = ET.fromstring(draw_svg([PANEL], kind="animation"))
    clocks = list(root.iter(f"{SVG}animate"))
    assert len({one.attrib["dur"] for one in clocks}) == 1
    for moment in (0.0, 0.1, 0.26, 0.5, 0.74, 0.76, 0.99):
        seen = []
        for one in clocks:
            times = list(map(float, one.attrib["keyTimes"].split(";")))
            values = one.attrib["values"].split(";")
            assert times[0] == 0
            seen.append(values[max(place for place, time in enumerate(times) if time <= moment)])
        assert seen.count("visible") == 1
        assert seen.index("visible") == int(moment * 4)
    turns = [one.attrib["visibility"] for one in root.iter(f"{SVG}g")]
    assert turns == ["visible", "hidden", "hidden", "hidden"]  # for readers that know no time


def test_readers_who_want_no_motion_get_none() -> None:
    assert "prefers-reduced-motion" in draw_svg([PANEL], kind="animation")
    assert "prefers-reduced-motion" not in draw_svg([PANEL])


def test_labels_are_text_and_nothing_else() -> None:
    assert "<script" not in draw_svg([on_plane([HOSTILE], title=HOSTILE)], kind="animation")


@pytest.mark.parametrize("ending", [".png", ".pdf"])
def test_what_cannot_move_says_so(ending: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"do not move: save an animation as \.svg, \.gif or \.html"):
        save([PANEL], tmp_path / f"x{ending}", kind="animation")


@pytest.mark.usefixtures("own_fonts")
def test_a_gif_has_a_frame_for_each_turn(tmp_path: Path) -> None:
    save([PANEL, Panel([[1.0]], ["x"], ["y"])], tmp_path / "x.gif")
    with Image.open(tmp_path / "x.gif") as found:
        assert found.n_frames == 4
        assert found.info["loop"] == 0
        assert found.info["duration"] == 1200
        shots = []
        for number in range(4):
            found.seek(number)
            shots.append(np.asarray(found.convert("L"), dtype=int))
    assert all((one != other).mean() > 0.02 for one, other in pairwise(shots))
    assert shots[1].mean() < shots[0].mean()  # under a veil
    first, second = read(tmp_path / "x.gif")
    assert (np.array(first.weights, dtype=np.float32) == PANEL.weights).all()
    assert second.rows == ["x"]
    assert (tmp_path / "x.gif").stat().st_size < 120_000


@pytest.mark.usefixtures("own_fonts")
def test_what_has_no_picture_is_a_gif_that_stands(tmp_path: Path) -> None:
    save([on_clip(["a"], 3)], tmp_path / "x.gif")
    with Image.open(tmp_path / "x.gif") as found:
        assert not found.is_animated


def test_a_gif_needs_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"regard\[plot\]"):
        save([PANEL], tmp_path / "x.gif")
