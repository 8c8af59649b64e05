"""Urdu, Hindi and Japanese are drawn as they are written.

Two references, both with the fonts in `fonts/`, so that they hold on every machine: small pictures that were looked at
and kept, and what a browser draws with the same fonts. Letters that are not joined must not pass for either.
To keep new pictures after looking at them: REGARD_NEW_REFERENCES=1 pytest tests/pictures/test_scripts.py
"""

import base64
import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page

from regard.pictures import Panel
from regard.pictures.drawing import Box, Drawing, Words
from regard.pictures.paint import png
from regard.pictures.sheet import sheet
from tests.pictures.conftest import FONTS
from tests.service.browser import browsing

pytestmark = pytest.mark.usefixtures("own_fonts")

REFERENCES = Path(__file__).parent / "references"
WORDS = {
    "urdu": ["یہ", "ایک", "کتاب", "ہے"],
    "hindi": ["नमस्ते", "क्षत्रिय", "हिन्दी", "विद्यार्थी"],
    "japanese": ["東京", "特許", "許可", "局です"],
}
FILES = {"urdu": "urdu.ttf", "hindi": "hindi.ttf", "japanese": "japanese.otf"}
APART = "\u200c"  # between two letters: do not join them
SCRIPTS = pytest.mark.parametrize("script", WORDS)

Picture = NDArray[np.float64]  # (height, width): 0 paper … 1 ink


def ink(content: bytes) -> Picture:
    return 1 - np.asarray(Image.open(io.BytesIO(content)).convert("L"), dtype=float) / 255


def different(one: Picture, other: Picture) -> float:
    """Which share of the ink differs, a pixel's blur aside."""
    if one.shape != other.shape:
        return 1.0
    return float(np.abs(soft(one) - soft(other)).sum() / soft(other).sum())


def soft(picture: Picture) -> Picture:
    around = [np.roll(picture, (down, right), (0, 1)) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    return np.mean(around, axis=0)


def labelled(script: str, kind: str, words: list[str]) -> bytes:
    weights = np.eye(4) * 0.6 + 0.1
    return png(sheet([Panel(weights, words, ["a", "b", "c", "d"], "", frozenset({(1, 2)}))], kind), "")


def labels(picture: Picture, kind: str) -> Picture:
    """The part with the words of the output: on the left of a map, at the foot of lines."""
    return picture[:, : picture.shape[1] // 3] if kind == "map" else picture[-160:]


@SCRIPTS
@pytest.mark.parametrize("kind", ["map", "lines"])
def test_pictures_look_like_those_that_were_kept(script: str, kind: str) -> None:
    path = REFERENCES / f"{script}-{kind}.png"
    content = labelled(script, kind, WORDS[script])
    if os.environ.get("REGARD_NEW_REFERENCES"):
        Image.open(io.BytesIO(content)).convert("L").quantize(16).save(path, optimize=True)
    kept = ink(path.read_bytes())
    assert different(ink(content), kept) < 0.02
    assert different(labels(ink(content), kind), labels(kept, kind)) < 0.02
    broken = ink(labelled(script, kind, [*WORDS[script][:3], WORDS[script][3][::-1]]))
    assert different(labels(broken, kind), labels(kept, kind)) > 0.05


def word(text: str) -> Picture:
    """Black on white, large, cut to its ink."""
    shapes = [Box(0, 0, 400, 120, "paper"), Words(200, 80, text, 48, edge="middle")]
    return trimmed(ink(png(Drawing(400, 120, list(shapes)), "")))


def trimmed(picture: Picture) -> Picture:
    rows, columns = np.nonzero(picture > 0.5)
    return picture[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browsing() as browser:
        yield browser.new_page(viewport={"width": 400, "height": 120}, device_scale_factor=2)


def browsed(page: Page, script: str, text: str) -> Picture:
    """The same word as a browser draws it."""
    font = base64.b64encode((FONTS / FILES[script]).read_bytes()).decode()
    page.set_content(
        f"<style>@font-face {{ font-family: own; src: url(data:font/ttf;base64,{font}) }}"
        "body { margin: 20px; font: 48px own; color: #1f2430; text-align: center }</style>"
        f"<body>{text}</body>"
    )
    page.evaluate("document.fonts.ready")
    return trimmed(ink(page.screenshot()))


def alike(one: Picture, other: Picture) -> float:
    """How much of the ink of two words falls on the same places, when both are scaled to one size: 0 … 1."""
    frame = (240, 120)
    a, b = (np.asarray(Image.fromarray((p * 255).astype(np.uint8)).resize(frame), dtype=float) for p in (one, other))
    ratio = (one.shape[1] / one.shape[0]) / (other.shape[1] / other.shape[0])
    return float(np.minimum(a, b).sum() / np.maximum(a, b).sum()) * min(ratio, 1 / ratio)


@SCRIPTS
def test_words_are_shaped_as_a_browser_shapes_them(script: str, page: Page) -> None:
    for text in WORDS[script]:
        reference = browsed(page, script, text)
        assert alike(word(text), reference) > 0.85
        assert alike(word(text[::-1]), reference) < 0.5
        if script != "japanese":  # whose letters stand apart anyway
            assert alike(word(APART.join(text)), reference) < 0.5
