import io

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from regard.pictures.veil import DARK, LIGHT, spread, veil

CELLS = np.random.default_rng(0).dirichlet(np.ones(15)).reshape(3, 5)


def shares(content: bytes, dark: float = DARK) -> NDArray[np.float64]:
    """The weights in a veil, as shares of the largest: of its white, and the same of its black."""
    with Image.open(io.BytesIO(content)) as picture:
        grey, alpha = np.moveaxis(np.asarray(picture) / 255, 2, 0)
    white = grey * alpha / LIGHT
    assert 1 - (alpha - grey * alpha) / dark == pytest.approx(white, abs=0.02)
    found: NDArray[np.float64] = white
    return found


@pytest.mark.parametrize("dots", [2, 3, 8])
def test_every_weight_reaches_the_dots_and_none_is_lost(dots: int) -> None:
    for j in range(15):
        alone = np.zeros(15)
        alone[j] = CELLS.flat[j]
        assert spread(alone.reshape(3, 5), dots).sum() == pytest.approx(dots**2 * CELLS.flat[j])
    assert spread(CELLS, dots).sum() == pytest.approx(dots**2)


def test_a_cell_has_its_weight_in_its_middle() -> None:
    assert spread(CELLS, 3)[1::3, 1::3] == pytest.approx(CELLS)
    assert spread(np.array([[0.0, 1.0]]), 4)[0] == pytest.approx([0, 0, 0.125, 0.375, 0.625, 0.875, 1, 1])


@pytest.mark.parametrize("dark", [0.8, 0.6])
def test_a_veil_can_be_read_back(dark: float) -> None:
    found = shares(veil(CELLS, dark), dark)
    dots = found.shape[0] // 3
    assert found.shape == (3 * dots, 5 * dots)
    assert found == pytest.approx(spread(CELLS / CELLS.max(), dots), abs=0.015)
    assert found.sum() * CELLS.max() / dots**2 == pytest.approx(1, abs=0.01)


def test_a_flat_row_is_lit_everywhere_and_an_empty_one_nowhere() -> None:
    assert shares(veil(np.full((2, 2), 0.25))) == pytest.approx(1, abs=0.01)
    assert shares(veil(np.zeros((2, 2)))) == pytest.approx(0, abs=0.01)
    assert shares(veil(np.ones((1, 1)))) == pytest.approx(1, abs=0.01)


def test_a_veil_is_small() -> None:
    assert len(veil(np.random.default_rng(0).dirichlet(np.ones(196)).reshape(14, 14))) < 16_000
    smooth = np.exp(-(np.linspace(-2, 2, 14)[:, None] ** 2 + np.linspace(-1, 3, 14) ** 2))
    assert len(veil(smooth)) < 4_000
