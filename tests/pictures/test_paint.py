"""PNG and PDF show what the drawing says: measured on the pixels."""

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from regard.pictures import Panel
from regard.pictures.drawing import INKS, Box, Drawing, Ribbon, Words
from regard.pictures.paint import SHARP, pdf, png
from regard.pictures.sheet import sheet

WEIGHTS = np.array([[0.5, 0.25, 0.25], [0.0, 0.9, 0.1]])
PANEL = Panel(WEIGHTS, ["x", "y"], ["a", "b", "c"], marked=frozenset({(0, 2)}))


def pixels(drawing: Drawing) -> NDArray[np.float64]:
    return np.asarray(Image.open(io.BytesIO(png(drawing, ""))).convert("RGB"), dtype=float)  # (height, width, 3)


def rgb(ink: str) -> NDArray[np.float64]:
    return np.array([int(INKS[ink].light[place : place + 2], 16) for place in (1, 3, 5)], dtype=float)


def test_every_cell_has_the_colour_of_its_weight() -> None:
    drawing = sheet([PANEL])
    picture = pixels(drawing)
    assert picture.shape[:2] == (drawing.height * SHARP, drawing.width * SHARP)
    cells = [one for one in drawing.shapes if isinstance(one, Box) and one.kind == "cell"]
    for cell, weight in zip(cells, WEIGHTS.ravel(), strict=True):
        x, y = round((cell.x + cell.width / 2) * SHARP), round((cell.y + cell.height / 2) * SHARP)
        share = weight / 0.9
        assert picture[y, x] == pytest.approx(share * rgb("w") + (1 - share) * rgb("grid"), abs=3)


def test_a_mark_is_an_outline() -> None:
    drawing = sheet([PANEL])
    picture = pixels(drawing)
    (mark,) = [one for one in drawing.shapes if isinstance(one, Box) and one.kind == "mark"]
    x, y = round(mark.x * SHARP), round(mark.y * SHARP)
    assert picture[y + 20, x] == pytest.approx(rgb("mark"), abs=30)
    assert np.abs(picture[y + 20, x + 20] - rgb("mark")).max() > 60


def test_a_ribbon_is_as_thick_as_told() -> None:
    for thickness in (2.0, 8.0):
        picture = pixels(Drawing(60, 60, [Box(0, 0, 60, 60, "paper"), Ribbon(30, 0, 30, 60, thickness, "w")]))
        assert (picture[60, :, 0] < 128).sum() == pytest.approx(thickness * SHARP, abs=1)


def test_words_stand_where_they_should() -> None:
    for edge, (low, high) in {"left": (100, 200), "middle": (50, 150), "right": (0, 100)}.items():
        picture = pixels(Drawing(200, 40, [Box(0, 0, 200, 40, "paper"), Words(100, 30, "HHHH", 16, edge=edge)]))
        rows, columns = np.nonzero(picture[:, :, 0] < 128)
        assert low * SHARP - 2 <= columns.min() < columns.max() <= high * SHARP + 2
        assert rows.max() == pytest.approx(30 * SHARP, abs=2)  # on the line


def test_a_dollar_sign_is_no_formula() -> None:
    def ink(text: str) -> int:
        drawn = pixels(Drawing(200, 40, [Box(0, 0, 200, 40, "paper"), Words(10, 30, text, 16)]))
        return int((drawn[:, :, 0] < 128).sum())

    assert ink("$x$") > 2 * ink("x")  # a formula would be an x alone
    assert ink("$\\frac$") > 0  # and this would be none


def test_a_users_settings_change_nothing(tmp_path: Path) -> None:
    from matplotlib import rc_context

    drawing = sheet([PANEL])
    expected = png(drawing, "{}")
    with rc_context(
        {"savefig.bbox": "tight", "font.family": "monospace", "savefig.dpi": 30, "figure.facecolor": "red"}
    ):
        assert png(drawing, "{}") == expected


def test_pyplot_stays_out_of_it(tmp_path: Path) -> None:
    """It keeps global state, which threads of a server would share."""
    import subprocess
    import sys

    code = (
        "import sys; from regard.pictures import Panel, save; "
        f"save([Panel([[1.0]], ['x'], ['a'])], {str(tmp_path / 'x.png')!r}); "
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_warnings_whatever_is_drawn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for content in (png, pdf):
            content(sheet([PANEL._replace(rows=["ሀ𓀀", "a\u0301"], title="👨‍👩‍👧 \u202eabc")]), "{}")
