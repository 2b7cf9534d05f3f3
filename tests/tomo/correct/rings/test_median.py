import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import median_filter

from runner.tomo.correct.rings.median import running_median
from runner.tomo.correct.rings.order import sort_columns, unsort_columns


@settings(max_examples=60, deadline=None)
@given(
    columns=st.integers(1, 60),
    angles=st.integers(1, 140),
    half=st.integers(1, 30),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_running_median_is_scipys(columns, angles, half, seed):
    values = np.random.default_rng(seed).normal(size=(columns, angles)).astype(np.float32)
    size = 2 * half + 1
    mirrored = np.pad(values, ((half, half), (0, 0)), mode="symmetric")
    expected = median_filter(mirrored, (size, 1))[half : half + columns]
    assert np.array_equal(running_median(values, size), expected)


@pytest.mark.parametrize("size", [3, 21, 51, 101])
def test_the_windows_that_are_usual(size):
    values = np.random.default_rng(size).normal(size=(200, 65)).astype(np.float32)
    assert np.array_equal(running_median(values, size), median_filter(values, (size, 1)))


@settings(max_examples=60, deadline=None)
@given(angles=st.integers(1, 80), columns=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_sorting_is_numpys_and_is_undone(angles, columns, seed):
    random = np.random.default_rng(seed)
    sinogram = random.normal(size=(angles, columns)).astype(np.float32)
    sinogram[random.uniform(size=sinogram.shape) < 0.3] = 0.25  # equal values keep their order
    values, keys = sort_columns(sinogram)
    order = np.argsort(sinogram, axis=0, kind="stable").T
    assert np.array_equal(values, np.sort(sinogram, axis=0).T)
    assert np.array_equal(keys & 0xFFFFFFFF, order)
    back = np.empty_like(sinogram)
    unsort_columns(values, keys, back)
    assert np.array_equal(back, sinogram)


def test_zeros_of_both_signs_and_the_largest_numbers_are_in_order():
    line = np.array([0.0, -0.0, 3e38, -3e38, 1e-45, -1e-45], np.float32)
    values, _ = sort_columns(line[:, np.newaxis])
    assert np.array_equal(values[0], np.sort(line))
