import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.reconstruct.filters import PADDINGS, WINDOWS, pad, padded_length, ramp

lengths = st.integers(3, 4000)


@given(st.integers(1, 100_000))
def test_a_padded_row_holds_twice_the_columns_and_little_more(columns):
    assert 2 * columns <= padded_length(columns) <= 2 * columns * 1.2 + 2


@given(lengths)
def test_the_ramp_is_the_transform_of_its_kernel(length):
    distance = np.minimum(np.arange(length), length - np.arange(length))
    kernel = np.fft.irfft(ramp(length), length)
    expected = np.where(distance % 2 == 1, -1 / (np.pi * np.maximum(distance, 1)) ** 2, 0)
    expected[0] = 0.25
    np.testing.assert_allclose(kernel, expected, atol=1e-12)


@given(lengths)
def test_the_ramp_is_the_frequency_but_for_the_cut_of_its_kernel(length):
    frequency = np.fft.rfftfreq(length)
    np.testing.assert_allclose(ramp(length), frequency, atol=0.25 / length)
    assert ramp(length)[0] > 0, "zero there would force the mean of every slice to zero"


@pytest.mark.parametrize(
    ("window", "at_half", "at_nyquist"),
    [
        ("ram-lak", 1, 1),
        ("shepp-logan", np.sin(np.pi / 4) / (np.pi / 4), 2 / np.pi),
        ("cosine", np.sqrt(0.5), 0),
        ("hann", 0.5, 0),
        ("hamming", 0.54, 0.08),
        ("parzen", 0.125, 0),
        ("butterworth", 1 / np.sqrt(1 + 0.5**8), np.sqrt(0.5)),
        ("linear", (np.sin(np.pi / 4) / (np.pi / 4)) ** 2, (2 / np.pi) ** 2),
    ],
)
def test_the_windows_are_those_of_the_textbooks(window, at_half, at_nyquist):
    np.testing.assert_allclose(WINDOWS[window](np.array([0, 0.5, 1])), [1, at_half, at_nyquist], atol=1e-12)


@pytest.mark.parametrize("window", WINDOWS)
@given(length=lengths)
def test_a_window_only_lowers_and_keeps_the_mean(window, length):
    plain, windowed = ramp(length), ramp(length, window)
    assert windowed[0] == plain[0]
    assert np.all(windowed <= plain + 1e-15)
    assert np.all(windowed >= -1e-15)


@pytest.mark.parametrize("window", WINDOWS)
@given(length=lengths, cutoff=st.floats(0.05, 1))
def test_a_cutoff_narrows_the_window(window, length, cutoff):
    cut, whole = ramp(length, window, cutoff), ramp(length, window)
    beyond = 2 * np.fft.rfftfreq(length) > cutoff * (1 + 1e-12)
    assert np.all(cut <= whole + 1e-15)
    if window == "butterworth":
        assert np.all(cut[beyond] <= whole[beyond] * np.sqrt(0.5) * 1.5)
    else:
        assert not cut[beyond].any()


def test_linear_is_the_low_pass_that_interpolation_is():
    """Sampling midway between two pixels, averaged over all places between them, and no more."""
    frequency = np.fft.rfftfreq(64)
    offsets = (np.arange(2000) + 0.5) / 2000
    blurred = [np.mean((1 - offsets) * np.cos(2 * np.pi * f * offsets) * 2) for f in frequency]
    np.testing.assert_allclose(WINDOWS["linear"](2 * frequency), blurred, atol=1e-6)


@pytest.mark.parametrize("padding", PADDINGS)
@given(columns=st.integers(1, 50))
def test_padding_surrounds_the_row_on_the_circle(padding, columns):
    row = np.arange(1, columns + 1, dtype=np.float32)[np.newaxis]
    length = padded_length(columns)
    padded = pad(row, length, padding)[0]
    np.testing.assert_array_equal(padded[:columns], row[0])
    left, right = (row[0, 0], row[0, -1]) if padding == "edge" else (0, 0)
    assert padded[columns] == right
    assert padded[-1] == left
    assert abs(np.sum(padded[columns:] == right) - np.sum(padded[columns:] == left)) <= 1 or left == right
