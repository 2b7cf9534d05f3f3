import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ScanError
from runner.tomo.greys import distribution, sample_rows, window_between
from runner.tomo.volume.greys import Greys, to_pixels


@pytest.mark.parametrize(("dtype", "most"), [("uint8", 255), ("uint16", 65535)])
def test_values_beyond_the_window_do_not_wrap_and_are_counted(dtype, most):
    values = np.array([[[-9, 0.5, 2.5, 1e9, np.inf, -np.inf, np.nan, 1.5]]], np.float32)
    pixels, clipped = to_pixels(values, Greys(dtype=dtype, low=0.5, high=2.5))
    assert pixels.dtype == dtype
    assert pixels.ravel().tolist() == [0, 0, most, most, most, 0, 0, round(most / 2)]
    assert clipped.tolist() == [[2, 2, 1]]


def test_float16_holds_its_outermost_number_instead_of_infinity():
    values = np.array([[[1e6, -1e6, np.nan, 0.1]]], np.float32)
    pixels, clipped = to_pixels(values, Greys(dtype="float16"))
    np.testing.assert_array_equal(pixels.ravel(), np.array([65504, -65504, np.nan, 0.1], np.float16))
    assert clipped.tolist() == [[1, 1, 0]]


def test_float32_is_not_touched():
    values = np.array([[[1e30, np.nan, np.inf]]], np.float32)
    pixels, clipped = to_pixels(values, Greys())
    np.testing.assert_array_equal(pixels, values)
    assert not clipped.any()


@given(
    low=st.floats(-100, 100, width=32),
    width=st.floats(0.5, 1000, width=32),
    parts=st.lists(st.floats(0, 1), min_size=1, max_size=30),
    dtype=st.sampled_from(["uint8", "uint16"]),
)
def test_what_is_stored_gives_the_value_back_to_half_a_step(low, width, parts, dtype):
    greys = Greys(dtype=dtype, low=low, high=low + width)
    values = (low + width * np.array(parts)).astype(np.float32)
    pixels, _ = to_pixels(values.reshape(1, 1, -1).copy(), greys)
    back = pixels.ravel() * greys.step + greys.low
    rounding = 4 * np.spacing(np.float32(abs(low) + width))
    assert np.abs(back - values).max() <= greys.step / 2 + rounding


@given(first=st.integers(0, 5000), rows=st.integers(1, 5000))
def test_rows_for_percentiles_are_of_the_volume_and_differ(first, rows):
    chosen = sample_rows(first, first + rows)
    assert len(set(chosen)) == len(chosen) == min(16, rows)
    assert first <= min(chosen) <= max(chosen) < first + rows


def test_a_distribution_is_that_inside_the_circle():
    size = 64
    slice_ = np.random.default_rng(1).normal(size=(size, size)).astype(np.float32)
    slice_[0, 0] = 1e9  # a corner
    slice_[size // 2, size // 2] = np.nan
    found = distribution(slice_)
    assert found.max() < 10
    assert np.median(found) == pytest.approx(0, abs=0.1)
    assert distribution(np.full((8, 8), np.nan, np.float32)).size == 0


def test_a_window_between_percentiles():
    assert window_between(np.arange(101, dtype=np.float32), 1, 99.5) == (1.0, 99.5)
    for values in (np.zeros(9, np.float32), np.empty(0, np.float32)):
        with pytest.raises(ScanError, match="are both 0: no window of greys"):
            window_between(values, 1, 99)
