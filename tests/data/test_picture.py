"""Pictures known by their size, decoded when a batch needs them, and batches of unequal ones."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.data.picture import ROUND, Picture, stack
from regard.data.recent import Recent
from regard.data.view import IMAGENET_MEAN, IMAGENET_STD, View
from regard.errors import DataError
from tests.data.made import cut, noise, save, url

LINES = View(1, "height", 8, invert=True)
AS_IT_IS = View(3, "within", 100, mean=IMAGENET_MEAN, std=IMAGENET_STD)
SIZES = [(8, 13), (16, 7), (5, 3), (11, 17), (2, 2)]


@pytest.fixture
def sources(tmp_path: Path) -> list[str]:
    return [save(tmp_path / f"{number}.png", noise(*size, seed=number)) for number, size in enumerate(SIZES)]


@pytest.mark.parametrize("view", [LINES, AS_IT_IS])
def test_each_lies_in_its_corner_and_the_rest_is_zero(sources: list[str], view: View) -> None:
    pictures = [Picture.open(source, view) for source in sources]
    found = stack(pictures)
    assert found.data.dtype == torch.float32
    widest = max(one.width for one in pictures)
    assert found.data.shape[2:] == (max(one.height for one in pictures), -(-widest // ROUND) * ROUND)
    assert found.sizes.tolist() == [[one.height, one.width] for one in pictures]
    assert found.data[~found.mask[:, None].expand_as(found.data)].abs().sum() == 0
    for plane, picture in zip(found.data, pictures, strict=True):
        assert (plane[:, : picture.height, : picture.width].numpy() == view.read(picture.source)).all()


def test_pictures_of_one_width_get_no_padding(sources: list[str]) -> None:
    picture = Picture.open(sources[0], AS_IT_IS)
    assert stack([picture, picture]).data.shape[2:] == (picture.height, picture.width)


def test_a_picture_does_not_depend_on_its_mates(sources: list[str]) -> None:
    pictures = [Picture.open(source, AS_IT_IS) for source in sources]
    for picture in pictures:
        alone, together = stack([picture]), stack([*pictures, picture])
        assert (together.data[-1, :, : picture.height, : picture.width] == alone.data[0]).all()


def test_what_was_sent_is_read_and_not_kept() -> None:
    recent, pixels = Recent(), noise(4, 4)
    picture = Picture.open(url(pixels), View(fit="within"))
    assert (picture.pixels(recent) == pixels.transpose(2, 0, 1)).all()
    assert recent.bytes == 0


def test_a_second_epoch_decodes_nothing(sources: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    recent, pictures = Recent(), [Picture.open(source, LINES) for source in sources]
    first = stack(pictures, recent)
    assert recent.bytes == sum(one.height * one.width for one in pictures)
    monkeypatch.setattr(View, "pixels", lambda *_: pytest.fail("decoded"))
    second = stack(pictures, recent)
    assert (first.data == second.data).all()
    assert (first.sizes == second.sizes).all()


def test_two_views_of_one_file_are_kept_apart(sources: list[str]) -> None:
    recent = Recent()
    shapes = {Picture.open(sources[0], View(size=size)).pixels(recent).shape for size in (4, 6, 4)}
    assert shapes == {(3, 4, 4), (3, 6, 6)}


def test_a_file_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    recent, source = Recent(), save(tmp_path / "a.png", noise(4, 4, seed=1))
    picture = Picture.open(source, View(fit="within"))
    picture.pixels(recent)
    save(tmp_path / "a.png", noise(4, 4, seed=2))
    os.utime(source, ns=(7, 7))
    assert (picture.pixels(recent) == noise(4, 4, seed=2).transpose(2, 0, 1)).all()
    save(tmp_path / "a.png", noise(4, 5))
    with pytest.raises(DataError, match=r"a\.png was replaced by one of another size"):
        picture.load(recent)


def test_nobody_may_write_into_what_is_kept(sources: list[str]) -> None:
    recent, picture = Recent(), Picture.open(sources[0], LINES)
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            picture.pixels(recent)[:] = 0
    stack([picture], recent).data.zero_()
    assert picture.pixels(recent).any()


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.png"):
        Picture.open(str(tmp_path / "none.png"), LINES)
    wide = save(tmp_path / "wide.png", np.zeros((1, 3000), np.uint8))
    with pytest.raises(DataError, match=r"wide\.png: a picture of 3000 × 1 pixels would be 24000 wide"):
        Picture.open(wide, LINES)


def test_a_file_that_broke_since_ends_the_batch(sources: list[str]) -> None:
    pictures = [Picture.open(source, LINES) for source in sources]
    os.replace(cut(sources[3], 0.5), sources[3])
    with pytest.raises(DataError, match=r"3\.png"):
        stack(pictures, Recent())
