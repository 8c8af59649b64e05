from itertools import pairwise

import numpy as np
import pytest

from regard.pictures import draw_svg
from regard.pictures.drawing import Box, Drawing, Picture, Words
from regard.pictures.filmstrip import MOST_FRAMES, thinned
from regard.pictures.sheet import sheet
from tests.pictures.drawn import HOSTILE, on_clip


def cells(drawing: Drawing) -> list[Box]:
    return [one for one in drawing.shapes if isinstance(one, Box) and one.kind == "cell"]


def frames(drawing: Drawing) -> list[Picture]:
    return [one for one in drawing.shapes if isinstance(one, Picture)]


@pytest.mark.parametrize("count", [1, 3, 11, 24, 200])
def test_every_weight_has_its_cell_below_its_frame(count: int) -> None:
    panel = on_clip(["a", "ball"], count)
    drawing, table = sheet([panel]), np.asarray(panel.weights)
    found = cells(drawing)
    assert [one.opacity for one in found] == pytest.approx((table / table.max()).ravel())
    first, second = found[:count], found[count:]
    assert [one.x for one in first] == [one.x for one in second] == sorted({one.x for one in first})
    scene = panel.scene
    assert scene
    for picture in frames(drawing):
        middle, number = picture.x + picture.width / 2, scene.frames.index(picture.content)  # type: ignore[union-attr]
        under = [j for j, one in enumerate(first) if one.x - 1 <= middle <= one.x + one.width + 1]
        assert number in under
        assert picture.y + picture.height < first[0].y < second[0].y
    for one in (*found, *frames(drawing)):
        assert one.x + one.width <= drawing.width


def test_frames_do_not_lie_on_each_other() -> None:
    for count in (2, 12, 24, 50, 199):
        seen = frames(sheet([on_clip(["a"], count)]))
        assert 1 < len(seen) <= 11
        assert all(one.x + one.width <= other.x + 0.2 for one, other in pairwise(seen))


@pytest.mark.parametrize("count", range(60))
def test_frames_are_thinned_evenly(count: int) -> None:
    seen = list(thinned(count, 11))
    assert len(seen) <= 11
    assert seen == list(range(count)) if count <= 11 else len(seen) >= 6
    assert all(0 <= number < count for number in seen)
    assert len(set(np.diff(seen).tolist())) <= 1


def test_what_is_seen_is_said() -> None:
    drawing = sheet([on_clip(["a"], 24)])
    texts = [one.text for one in drawing.shapes if isinstance(one, Words)]
    assert "8 of 24 frames are seen; every frame has its cells" in texts
    assert {"2", "5", "23"} <= set(texts)
    assert not any("are seen" in text for text in map(str, sheet([on_clip(["a"], 5)]).shapes))
    many = sheet([on_clip(["a"], MOST_FRAMES + 1)])
    assert any(f"1–{MOST_FRAMES} of" in one.text for one in many.shapes if isinstance(one, Words))
    assert all(one.x + one.width <= many.width for one in frames(many))


def test_given_spans_are_outlined_as_one() -> None:
    drawing = sheet([on_clip(["a", "b"], 10, marked=frozenset({(1, 2), (1, 3), (1, 4), (1, 7)}))])
    long, short = [one for one in drawing.shapes if isinstance(one, Box) and one.kind == "mark"]
    step = cells(drawing)[1].x - cells(drawing)[0].x
    assert (long.width, short.width) == pytest.approx((3 * step, step), abs=0.01)
    assert long.x == pytest.approx(cells(drawing)[2].x - 0.5)
    assert cells(drawing)[10].y - 2 < long.y == short.y < cells(drawing)[10].y


def test_labels_are_text_and_nothing_else() -> None:
    assert "<script" not in draw_svg([on_clip([HOSTILE], 3)._replace(columns=[HOSTILE] * 3, title=HOSTILE)])
