"""How a picture becomes numbers: sizes foretold are sizes given, and every fit does what it says."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from regard.data.view import IMAGENET_MEAN, IMAGENET_STD, Box, View
from regard.errors import DataError
from tests.data.made import noise, save, url

sides = st.integers(1, 90)


@given(
    sides, sides, st.sampled_from(["square", "height", "within", "whole"]), st.integers(1, 60), st.sampled_from([1, 3])
)
def test_the_size_foretold_is_the_size_given(width: int, height: int, fit: str, size: int, channels: int) -> None:
    view = View(channels, fit, size, widest=8192)
    image = Image.new("L" if channels == 1 else "RGB", (width, height))
    assert view.fitted(image).shape == (channels, *view.size_of(width, height))


@given(sides, sides, st.integers(1, 60))
def test_what_each_fit_promises(width: int, height: int, size: int) -> None:
    assert View(fit="square", size=size).size_of(width, height) == (size, size)
    high, wide = View(fit="height", size=size, widest=8192).size_of(width, height)
    assert high == size
    assert wide == max(1, round(width * size / height))
    high, wide = View(fit="within", size=size).size_of(width, height)
    assert max(high, wide) == min(size, max(height, width))
    assert abs(wide * height - high * width) <= max(width, height)  # the shape is kept but for a pixel
    high, wide = View(fit="whole", size=size).size_of(width, height)
    assert max(high, wide) == size  # enlarged, too
    assert abs(wide * height - high * width) <= max(width, height)


@pytest.mark.parametrize("fit", ["square", "height", "within", "whole"])
def test_a_picture_that_fits_is_not_touched(fit: str) -> None:
    square = noise(24, 24)
    assert (View(fit=fit, size=24).pixels(url(square)) == square.transpose(2, 0, 1)).all()


def test_a_square_is_the_middle() -> None:
    wide = noise(6, 11)
    view = View(size=6)
    assert view.shown(11, 6) == Box(2, 0, 8, 6)
    assert (view.pixels(url(wide)) == wide[:, 2:8].transpose(2, 0, 1)).all()
    high = noise(11, 6)
    assert view.shown(6, 11) == Box(0, 2, 6, 8)
    assert (view.pixels(url(high)) == high[2:8].transpose(2, 0, 1)).all()


def test_making_smaller_averages_and_skips_nothing() -> None:
    """A fine checkerboard becomes grey; a filter that looks at few pixels would give stripes."""
    board = (255 * (np.indices((64, 64)).sum(0) % 2)).astype(np.uint8)
    found = View(1, "square", 8).pixels(url(board)).astype(int)
    assert np.abs(found[:, 1:-1, 1:-1] - 127.5).max() < 3


def test_a_line_that_is_too_wide_is_refused_and_named(tmp_path: Path) -> None:
    view = View(1, "height", 10, widest=50)
    assert view.size_of(100, 20) == (10, 50)
    with pytest.raises(DataError, match="102 × 20 pixels would be 51 wide at height 10, more than 50"):
        view.size_of(102, 20)


def test_ink_is_light_on_zero() -> None:
    paper = np.full((4, 9), 255, np.uint8)
    paper[1, 2] = 0
    found = View(1, "height", 4, invert=True).read(url(paper))
    assert found.dtype == np.float32
    assert found[0, 1, 2] == 1
    assert found.sum() == 1


def test_numbers_by_hand() -> None:
    dot = np.array([[[255, 0, 51]]], np.uint8)
    assert View(size=1).read(url(dot)).ravel().tolist() == [1, 0, np.float32(0.2)]
    view = View(size=1, mean=IMAGENET_MEAN, std=IMAGENET_STD)
    wanted = [(1 - 0.485) / 0.229, -0.456 / 0.224, (0.2 - 0.406) / 0.225]
    np.testing.assert_allclose(view.read(url(dot)).ravel(), wanted, rtol=1e-5)


def test_json_there_and_back() -> None:
    for view in (View(), View(1, "height", 64, 999, True), View(mean=IMAGENET_MEAN, std=IMAGENET_STD)):
        assert View.from_json(json.loads(json.dumps(view.to_json()))) == view
        assert hash(View.from_json(view.to_json())) == hash(view)
    assert View.from_json({}) == View()


@pytest.mark.parametrize(
    "wrong",
    [
        {"channels": 2},
        {"channels": True},
        {"fit": "wide"},
        {"fit": ["square"]},
        {"size": 0},
        {"size": 1e3},
        {"size": "224"},
        {"widest": 10**9},
        {"invert": 1},
        {"mean": [0.5]},
        {"mean": [0.5, 0.5, "0.5"], "std": [1, 1, 1]},
        {"mean": [0.5] * 3},
        {"mean": [0.5] * 3, "std": [1, 1, 0]},
        {"mean": [0.5] * 3, "std": [1, 1, float("nan")]},
        {"mean": 0.5},
        {"sise": 224},
        ["size"],
        None,
    ],
)
def test_what_is_no_view_is_refused(wrong: object) -> None:
    with pytest.raises(DataError, match="expected"):
        View.from_json(wrong)


def test_a_view_does_not_change(tmp_path: Path) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        View().size = 3  # type: ignore[misc]
    source = save(tmp_path / "a.png", noise(9, 9))
    assert (View().read(source) == View().read(source)).all()
