import io
import sys

import numpy as np
import pytest
from PIL import Image

from regard.errors import DataError
from regard.pictures.raster import data_url, png_bytes, shrunk, size

MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def noise(height: int, width: int, channels: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (height, width, channels), dtype=np.uint8)


def jpeg(width: int, height: int, **how: object) -> bytes:
    target = io.BytesIO()
    Image.fromarray(noise(height, width, 3)).save(target, "JPEG", **how)
    return target.getvalue()


@pytest.mark.parametrize("channels", MODES)
def test_a_png_holds_every_pixel(channels: int) -> None:
    pixels = noise(5, 7, channels)
    with Image.open(io.BytesIO(png_bytes(pixels))) as found:
        assert found.mode == MODES[channels]
        assert (np.asarray(found).reshape(5, 7, channels) == pixels).all()


def test_grey_needs_no_third_axis() -> None:
    pixels = noise(5, 7, 1)
    assert png_bytes(pixels[:, :, 0]) == png_bytes(pixels)


@pytest.mark.parametrize("how", [{}, {"progressive": True}, {"exif": Image.Exif()}, {"comment": b"\xff\xc0" * 9}])
def test_sizes_stand_in_the_head(how: dict[str, object]) -> None:
    assert size(jpeg(37, 19, **how)) == (37, 19)
    assert size(png_bytes(noise(19, 37, 3))) == (37, 19)


@pytest.mark.parametrize("content", [b"", b"GIF89a....", b"\x89PNG\r\n\x1a\n", jpeg(9, 9)[:30], b"\xff\xd8\xff\xff"])
def test_what_is_no_picture_is_refused(content: bytes) -> None:
    with pytest.raises(DataError, match="PNG and JPEG can be drawn"):
        size(content)


def test_large_pictures_become_small_and_small_ones_stay() -> None:
    photo, drawing = jpeg(900, 300), png_bytes(np.zeros((600, 200), np.uint8))
    assert size(shrunk(photo, 300)) == (300, 100)
    assert size(shrunk(drawing, 300)) == (100, 300)
    assert shrunk(drawing, 600) == drawing
    assert data_url(shrunk(drawing, 300)).startswith("data:image/png;base64,")
    heavy = png_bytes(noise(200, 200, 3))
    assert len(shrunk(heavy, 200)) < len(heavy)


def test_without_pillow_pictures_stay_as_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    photo = jpeg(901, 300)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert shrunk(photo, 300) == photo


def test_a_torn_picture_is_named() -> None:
    with pytest.raises(DataError, match="cannot be read"):
        shrunk(jpeg(400, 400)[:900], 100)
