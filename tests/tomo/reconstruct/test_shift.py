import numpy as np
import pytest

from runner.tomo.reconstruct.shift import shift_rows


def bump(at, columns=64):
    return np.exp(-(((np.arange(columns) - at) / 4) ** 2)).astype(np.float32)


@pytest.mark.parametrize("columns", [64, 65])
def test_each_row_moves_by_its_own_columns(columns):
    sinograms = np.stack([np.stack([bump(at, columns)] * 3) for at in (20, 30)])
    shift_rows(sinograms, np.array([2.5, -7.25]))
    expected = np.stack([np.stack([bump(at, columns)] * 3) for at in (22.5, 22.75)])
    np.testing.assert_allclose(sinograms, expected, atol=1e-5)


def test_what_is_wider_than_the_detector_is_carried_on():
    sinograms = np.ones((1, 2, 32), np.float32)
    shift_rows(sinograms, np.array([3.3]))
    np.testing.assert_allclose(sinograms, 1, atol=1e-5)


def test_nothing_is_touched_where_nothing_moves():
    sinograms = np.random.default_rng(0).normal(size=(2, 3, 40)).astype(np.float32)
    before = sinograms.copy()
    shift_rows(sinograms, np.zeros(2))
    np.testing.assert_array_equal(sinograms, before)


def test_a_row_does_not_depend_on_its_neighbours():
    sinograms = np.random.default_rng(0).normal(size=(3, 5, 40)).astype(np.float32)
    alone = sinograms[2:].copy()
    shift_rows(sinograms, np.array([0.3, 0.0, -1.7]))
    shift_rows(alone, np.array([-1.7]))
    np.testing.assert_array_equal(sinograms[2:], alone)
