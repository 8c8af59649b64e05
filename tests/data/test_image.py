"""Files → upright pixels of eight bits; every bad file is refused with its name."""

import os
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFile, PngImagePlugin

from regard.data import image as module
from regard.data.image import MOST_PIXELS, ORIENTATION, Header, decode, read_header
from regard.errors import DataError, MissingExtra
from tests.data.made import bomb, cut, noise, save, tiff, url

COLOURS = noise(5, 7)
GREYS = noise(5, 7, 1)


def pixels(source: str, channels: int = 3) -> np.ndarray[Any, Any]:
    return np.asarray(decode(source, channels))


@pytest.mark.parametrize("kind", ["png", "tiff", "webp", "gif", "jpeg"])
@pytest.mark.parametrize("channels", [1, 3])
def test_every_kind_gives_its_pixels(tmp_path: Path, kind: str, channels: int) -> None:
    even = np.full((5, 7, 3), 100, dtype=np.uint8)  # survives every compression
    source = save(tmp_path / "without-ending", even, format=kind, **({"lossless": True} if kind == "webp" else {}))
    assert read_header(source) == Header(7, 5, kind.upper())
    found = pixels(source, channels)
    assert found.shape == ((5, 7) if channels == 1 else (5, 7, 3))
    assert np.abs(found.astype(int) - 100).max() <= 1


def test_pixels_without_loss_are_those_that_were_saved(tmp_path: Path) -> None:
    assert (pixels(save(tmp_path / "a.png", COLOURS)) == COLOURS).all()
    assert (pixels(save(tmp_path / "a.tiff", GREYS), 1) == GREYS).all()
    assert (pixels(url(COLOURS)) == COLOURS).all()


def test_a_grey_picture_has_three_equal_channels(tmp_path: Path) -> None:
    assert (pixels(save(tmp_path / "a.png", GREYS)) == GREYS[:, :, None]).all()


TURNED = {  # EXIF 2.3, table of 0th row and 0th column
    1: COLOURS,
    2: COLOURS[:, ::-1],
    3: COLOURS[::-1, ::-1],
    4: COLOURS[::-1],
    5: COLOURS.swapaxes(0, 1),
    6: np.rot90(COLOURS, -1),
    7: COLOURS[::-1, ::-1].swapaxes(0, 1),
    8: np.rot90(COLOURS),
}


@pytest.mark.parametrize("orientation", TURNED)
@pytest.mark.parametrize("kind", ["png", "webp", "tiff"])
def test_the_cameras_rotation_is_applied(tmp_path: Path, orientation: int, kind: str) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    how: dict[str, Any] = {"lossless": True} if kind == "webp" else {}
    source = save(tmp_path / "a", COLOURS, format=kind, exif=exif, **how)
    wanted = TURNED[orientation]
    assert read_header(source)[:2] == (wanted.shape[1], wanted.shape[0])
    assert (pixels(source) == wanted).all()


@pytest.mark.parametrize(
    "exif", [b"Exif\0\0no such thing", b"Exif\0\0MM\0*\0\0\0\x08\xff\xff", b"Exif\0\0II*\0\xff\xff\xff\xff"]
)
def test_damaged_exif_makes_no_picture_unreadable(tmp_path: Path, exif: bytes) -> None:
    source = save(tmp_path / "a.png", COLOURS, exif=exif)
    assert read_header(source)[:2] == (7, 5)
    assert (pixels(source) == COLOURS).all()


def test_an_orientation_that_does_not_exist_is_passed_over(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = 77
    assert (pixels(save(tmp_path / "a.png", COLOURS, exif=exif)) == COLOURS).all()


@pytest.mark.parametrize("kind", ["png", "tiff"])
def test_sixteen_bits_are_scaled_not_clipped(tmp_path: Path, kind: str) -> None:
    deep = np.array([[0, 128, 129, 257], [32768, 40000, 65278, 65535]], dtype=np.uint16)
    source = save(tmp_path / f"a.{kind}", deep)
    assert pixels(source, 1).tolist() == np.rint(deep / 257).tolist()
    assert pixels(source).tolist() == np.rint(deep / 257)[:, :, None].repeat(3, 2).tolist()


def test_grey_of_many_bits_in_every_order(tmp_path: Path) -> None:
    deep = np.array([[0, 65535, 25700]], dtype=np.uint16)
    Image.frombytes("I;16B", (3, 1), deep.astype(">u2").tobytes()).save(tmp_path / "a.tiff")
    assert pixels(str(tmp_path / "a.tiff"), 1).tolist() == [[0, 255, 100]]
    reverse = tiff(tmp_path / "b.tiff", 3, bits=16, white=0, content=deep.tobytes())
    assert pixels(reverse, 1).tolist() == [[255, 0, 155]]
    twelve = tiff(tmp_path / "c.tiff", 2, bits=12, white=4095, content=bytes([0xFF, 0xF0, 0x00]))
    assert pixels(twelve, 1).tolist() == [[255, 0]]


def test_floats_lie_from_zero_to_one(tmp_path: Path) -> None:
    shares = np.array([[0.0, 0.2, 1.0]], dtype=np.float32)
    assert pixels(save(tmp_path / "a.tiff", shares), 1).tolist() == [[0, 51, 255]]
    for wrong in (shares * 255, shares - 1, shares * np.nan):
        with pytest.raises(DataError, match=r"b\.tiff cannot be read \(its numbers lie from"):
            decode(save(tmp_path / "b.tiff", wrong), 1)


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    clear = np.dstack([COLOURS, np.full((5, 7), 0, np.uint8)])
    assert (pixels(save(tmp_path / "a.png", clear)) == 255).all()
    half = np.dstack([np.zeros((5, 7, 3), np.uint8), np.full((5, 7), 128, np.uint8)])
    assert (pixels(save(tmp_path / "b.png", half)) == 127).all()
    grey = np.dstack([GREYS, np.full((5, 7), 0, np.uint8)])
    assert (pixels(save(tmp_path / "c.png", grey), 1) == 255).all()
    opaque = np.dstack([COLOURS, np.full((5, 7), 255, np.uint8)])
    assert (pixels(save(tmp_path / "d.png", opaque)) == COLOURS).all()


def test_a_palette_gives_its_colours_and_its_transparent_one_white(tmp_path: Path) -> None:
    palette = Image.frombytes("P", (3, 1), bytes([0, 1, 2]))
    palette.putpalette([9, 8, 7, 60, 50, 40, 1, 2, 3])
    palette.save(tmp_path / "a.png")
    assert pixels(str(tmp_path / "a.png")).tolist() == [[[9, 8, 7], [60, 50, 40], [1, 2, 3]]]
    palette.save(tmp_path / "b.png", transparency=bytes([255, 0, 255]))
    assert pixels(str(tmp_path / "b.png")).tolist() == [[[9, 8, 7], [255] * 3, [1, 2, 3]]]


def test_one_bit_is_black_and_white(tmp_path: Path) -> None:
    Image.fromarray(GREYS > 99).save(tmp_path / "a.png")
    assert (pixels(str(tmp_path / "a.png"), 1) == 255 * (GREYS > 99)).all()


def test_inks_become_light(tmp_path: Path) -> None:
    inks = np.zeros((8, 8, 4), np.uint8)
    inks[:, :, 1:3] = 255  # magenta and yellow: red
    Image.frombytes("CMYK", (8, 8), inks.tobytes()).save(tmp_path / "a.jpg", quality=100)
    assert np.abs(pixels(str(tmp_path / "a.jpg")).astype(int) - [255, 0, 0]).max() <= 3


def test_of_a_gif_the_first_frame_is_read(tmp_path: Path) -> None:
    first, second = (Image.fromarray(np.full((4, 4), grey, np.uint8)) for grey in (50, 200))
    first.save(tmp_path / "a.gif", save_all=True, append_images=[second])
    assert (pixels(str(tmp_path / "a.gif"), 1) == 50).all()


@pytest.mark.parametrize("kind", ["png", "jpeg", "tiff", "webp", "gif"])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_a_file_cut_short_is_refused_by_its_header_alone(tmp_path: Path, kind: str, share: float) -> None:
    source = cut(save(tmp_path / f"a.{kind}", noise(64, 64)), share)
    for read in (read_header, lambda path: decode(path, 3)):
        with pytest.raises(DataError, match=f"cut-a.{kind} .*(damaged|cut short)"):
            read(source)


@pytest.mark.parametrize("kind", ["png", "jpeg", "tiff", "webp", "gif"])
def test_a_header_is_read_without_decoding(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = save(tmp_path / f"a.{kind}", noise(64, 64))
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda _: pytest.fail("decoded"))
    assert read_header(source)[:2] == (64, 64)


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif"])
def test_bytes_after_the_end_do_no_harm(tmp_path: Path, kind: str) -> None:
    source = Path(save(tmp_path / f"a.{kind}", noise(16, 16)))
    source.write_bytes(source.read_bytes() + b"x" * 500)
    assert read_header(str(source))[:2] == (16, 16)
    decode(str(source), 3)


@pytest.mark.parametrize(
    ("width", "height"), [(MOST_PIXELS + 1, 1), (10_000, 10_000), (60_000, 60_000), (2**31 - 1, 2**31 - 1)]
)
def test_a_bomb_is_refused_by_its_header(tmp_path: Path, width: int, height: int) -> None:
    source = bomb(tmp_path / "bomb.png", width, height)
    for read in (read_header, lambda path: decode(path, 3)):
        with pytest.raises(
            DataError, match=r"bomb\.png (is \d+ × \d+ pixels, more than the 50 million|has far too many)"
        ):
            read(source)


def test_the_largest_picture_passes_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PIXELS", 35)
    assert read_header(save(tmp_path / "a.png", noise(5, 7)))[:2] == (7, 5)
    with pytest.raises(DataError, match="36 × 1 pixels"):
        read_header(save(tmp_path / "b.png", noise(1, 36)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"word,sound\n", "is no picture"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "HEIC"),
        (b"%PDF-1.7\n", "PDF"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "SVG"),
        (b"BM6\0\0\0", "BMP"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"\x89PNG\r\n\x1a\n", "a.png"),
    ],
)
def test_what_is_no_picture_is_told_by_its_content(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(DataError, match=said) as caught:
        decode(str(tmp_path / "a.png"), 3)
    assert str(tmp_path / "a.png") in str(caught.value)


def test_other_kinds_that_pillow_reads_are_refused(tmp_path: Path) -> None:
    """Few decoders, few surprises; some of the others start programs."""
    for kind in ("bmp", "ppm", "tga", "ico", "pcx", "eps", "pdf"):
        with pytest.raises(DataError, match="expected PNG, JPEG"):
            decode(save(tmp_path / "a.png", noise(16, 16), format=kind), 3)


def test_too_many_bytes_are_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = save(tmp_path / "a.png", noise(64, 64))
    with (
        pytest.raises(DataError, match=r"a\.png has 0\.0 MB, more than"),
        module.open_image(source, most_bytes=os.path.getsize(source) - 1),
    ):
        pytest.fail("opened")
    with module.open_image(source, most_bytes=os.path.getsize(source)) as image:
        assert image.size == (64, 64)


def test_without_pillow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = save(tmp_path / "a.png", COLOURS)
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"pillow.*regard\[vision\]"):
        decode(source, 3)


def noisy_picture(path: Path) -> str:
    """Pillow warns of this one: the number of its frames is not to be trusted."""
    information = PngImagePlugin.PngInfo()
    information.add(b"acTL", b"\0\0\0\0\0\0\0\0")
    return save(path, COLOURS, pnginfo=information)


def test_warnings_of_pillow_stay_inside(tmp_path: Path) -> None:
    source = noisy_picture(tmp_path / "a.png")
    with pytest.warns(UserWarning, match="APNG"):
        Image.open(source).close()
    before = list(warnings.filters)
    assert (pixels(source) == COLOURS).all()  # warnings are errors in tests
    assert list(warnings.filters) == before


def test_threads_leave_the_filters_of_warnings_as_they_were(tmp_path: Path) -> None:
    source, before = noisy_picture(tmp_path / "a.png"), list(warnings.filters)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                decode(source, 3)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert list(warnings.filters) == before


def test_the_limits_of_pillow_are_left_alone(tmp_path: Path) -> None:
    before = Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES
    decode(save(tmp_path / "a.png", COLOURS), 3)
    assert before == (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES)
