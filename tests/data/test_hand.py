"""Bending, thickening and paper, each against what its definition says."""

import math

import numpy as np
import pytest

from regard.data.corpora.canvas import chance
from regard.data.corpora.hand import (
    Hand,
    Plane,
    any_hand,
    bend,
    field,
    rows_of_ink,
    sample,
    thicken,
    to_picture,
    to_plane,
    with_margins,
    write,
)

PRINT = Hand()


def ink(rows: int = 17, columns: int = 29) -> Plane:
    return chance(0, "ink").random((rows, columns), dtype=np.float32)


def test_print_stays_as_it_is() -> None:
    plane = ink()
    np.testing.assert_array_equal(bend(thicken(plane, 0), PRINT, chance(1)), plane)
    np.testing.assert_array_equal(np.asarray(write(plane, PRINT, chance(1))), np.round((1 - plane) * 255))


def test_sampling_equals_a_loop_over_the_four_neighbours() -> None:
    plane, rng = ink(5, 7), chance(2)
    y, x = (rng.uniform(-2, top + 1, size=(3, 4)).astype(np.float32) for top in plane.shape)
    found = sample(plane, y, x)

    def at(row: int, column: int) -> float:
        return float(plane[row, column]) if 0 <= row < 5 and 0 <= column < 7 else 0.0

    for place in np.ndindex(3, 4):
        top, left = math.floor(y[place]), math.floor(x[place])
        low, right = float(y[place]) - top, float(x[place]) - left
        expected = sum(
            at(top + i, left + j) * (low if i else 1 - low) * (right if j else 1 - right)
            for i in (0, 1)
            for j in (0, 1)
        )
        assert found[place] == pytest.approx(expected, abs=1e-5)


def test_slant_leans_to_the_right_by_rows_above_the_middle() -> None:
    upright = np.zeros((5, 9), np.float32)
    upright[:, 4] = 1
    leaning = bend(upright, PRINT._replace(slant=1.0), chance(0))
    assert leaning.argmax(1).tolist() == [6, 5, 4, 3, 2]


def test_a_wave_moves_columns_up_and_down_and_comes_again_after_its_period() -> None:
    level = np.zeros((40, 200), np.float32)
    level[20] = 1
    wave = bend(level, PRINT._replace(wave=0.1, period=2.0), chance(0))
    lines = (wave * np.arange(40)[:, None]).sum(0) / wave.sum(0)
    expected = 20 - 4 * np.sin(2 * np.pi * np.arange(200) / 80)
    np.testing.assert_allclose(lines, expected, atol=1e-3)


def test_a_pen_takes_the_darkest_or_lightest_of_its_neighbours() -> None:
    plane = np.round(ink(9, 11) * 255) / np.float32(255)
    near = [plane[1 + i : 8 + i, 1 + j : 10 + j] for i in (-1, 0, 1) for j in (-1, 0, 1)]
    inner = plane[1:8, 1:10]
    np.testing.assert_allclose(thicken(plane, 1)[1:8, 1:10], np.max(near, 0), atol=1e-6)
    np.testing.assert_allclose(thicken(plane, -1)[1:8, 1:10], np.min(near, 0), atol=1e-6)
    np.testing.assert_allclose(thicken(plane, 0.5)[1:8, 1:10], (inner + np.max(near, 0)) / 2, atol=1e-6)


@pytest.mark.parametrize("height", [16, 21, 32, 50, 64, 97])
def test_no_hand_writes_over_the_edge_and_all_ink_stays(height: int) -> None:
    plane = np.ones((rows_of_ink(height), 3 * height), np.float32)
    for number in range(20):
        hand = any_hand(chance(0, number))
        bent = bend(with_margins(plane, height, hand), hand, chance(1, number))
        assert len(bent) == height
        assert max(bent[0].max(), bent[-1].max(), bent[:, 0].max(), bent[:, -1].max()) < 0.5
        assert bent.sum() == pytest.approx(plane.sum(), rel=0.1)


def test_paper_ink_and_noise_have_their_greys() -> None:
    plane = np.zeros((64, 400), np.float32)
    plane[20:40, 50:350] = 1
    grey = to_plane(write(plane, PRINT._replace(paper=0.8, ink=0.3, noise=0.02), chance(0)))
    assert grey[:10].mean() == pytest.approx(0.8, abs=0.01)
    assert grey[25:35, 100:300].mean() == pytest.approx(0.3, abs=0.01)
    assert grey[:10].std() == pytest.approx(0.02, rel=0.1)
    shaded = to_plane(write(plane, PRINT._replace(paper=0.7, shade=0.05), chance(0)))
    assert 0.01 < shaded[:10].std() < 0.08
    assert to_plane(to_picture(plane)).tolist() == plane.tolist()


def test_a_field_is_smooth_and_bounded() -> None:
    plane = field((40, 400), chance(0))
    assert plane.shape == (40, 400)
    assert np.abs(plane).max() <= 2.5
    assert max(np.abs(np.diff(plane, axis=axis)).max() for axis in (0, 1)) < 0.7  # 5 over 8 pixels at most
    assert abs(plane.mean()) < 0.5
