import json

import pytest

from regard.errors import UsageError
from regard.pictures import Clip, Outline, Panel, Plane, draw_html, draw_svg, draw_text
from regard.pictures.labels import cells
from regard.pictures.numbers import from_json, to_json
from regard.pictures.page import embedded
from regard.pictures.sheet import KINDS, kind_of, kinds_of
from regard.pictures.window import window
from tests.pictures.drawn import on_clip, on_plane, picture

PLANE, CLIP = on_plane(["a", "b"], boxes=(Outline(1, 0.1, 0.2, 0.5, 0.6),)), on_clip(["a"], 4)
LINE, MAP = on_plane(["a", "b"], line=True), Panel([[1.0]], ["x"], ["y"])


def test_cells_have_names_row_by_row() -> None:
    assert Plane(b"", 2, 3).labels == ["1:1", "1:2", "1:3", "2:1", "2:2", "2:3"]
    assert Clip((b"",) * 3).labels == ["1", "2", "3"]
    assert (Plane(b"", 2, 3).aspect, Plane(picture(60, 20), 2, 3).aspect) == (1.5, 3)


@pytest.mark.parametrize("scene", [Plane(b"", 2, 4), Plane(b"", -2, -3), Clip((b"",) * 5)])
def test_there_is_a_column_for_every_cell_or_frame(scene: Plane | Clip) -> None:
    with pytest.raises(ValueError, match="does not fit 6 columns of weights"):
        window(PLANE._replace(scene=scene))


def test_what_suits_a_panel() -> None:
    assert [kind_of(one, "auto") for one in (PLANE, LINE, CLIP, MAP)] == ["overlay", "places", "filmstrip", "map"]
    assert kinds_of([PLANE, MAP, CLIP], "overlay") == ["overlay", "map", "filmstrip"]
    assert kinds_of([PLANE, CLIP], "map") == ["map", "map"]


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.scene])
def test_a_kind_that_no_panel_can_show_is_refused(kind: str) -> None:
    for draw in (draw_svg, draw_html, draw_text):
        with pytest.raises(UsageError, match=f"{kind} needs a (picture|clip) under the weights"):
            draw([MAP], kind=kind)


@pytest.mark.parametrize("kind", ["auto", *KINDS])
def test_whatever_is_under_the_weights_every_kind_is_drawn(kind: str) -> None:
    """Also without the pictures themselves, as they are read back from a file, and beside others."""
    for panel in (PLANE, LINE, CLIP):
        own = kind if kind == kind_of(panel, kind) else "auto"
        for panels in ([panel], from_json(to_json([panel])), [panel, MAP]):
            assert draw_svg(panels, kind=own).endswith("</svg>\n")
            assert max(map(cells, draw_text(panels, kind=own).splitlines())) <= 80


@pytest.mark.parametrize("panel", [PLANE, LINE, CLIP], ids=["plane", "line", "clip"])
def test_numbers_tell_the_grid_and_pages_hold_the_pictures_too(panel: Panel) -> None:
    text = to_json([panel])
    assert "base64" not in text
    (without,) = from_json(text)
    (whole,) = from_json(embedded(draw_html([panel])))
    assert whole.scene == panel.scene
    if isinstance(panel.scene, Plane):
        assert without.scene == panel.scene._replace(image=b"")
        assert json.loads(text)["panels"][0]["scene"]["grid"] == [2, 3]
    else:
        assert without.scene == Clip((b"",) * 4)
