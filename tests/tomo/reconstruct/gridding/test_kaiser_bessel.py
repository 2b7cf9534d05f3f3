import numpy as np
import pytest

from runner.tomo.reconstruct.gridding.kaiser_bessel import (
    apodisation,
    kaiser_bessel,
    make_window,
    shape_parameter,
)
from runner.tomo.reconstruct.gridding.quality import QUALITIES


@pytest.fixture(params=QUALITIES.values(), ids=QUALITIES, name="quality")
def _quality(request):
    return request.param


@pytest.fixture(name="shape")
def _shape(quality):
    return shape_parameter(quality.width, quality.oversampling)


def test_the_polynomials_are_the_window(quality, shape):
    window = make_window(quality.width, shape)
    assert window.taps == tuple(range(quality.width))
    points = np.random.default_rng(0).uniform(-20, 20, 500)
    cells = np.ceil(points - quality.width / 2)
    middle = cells - points + (quality.width - 1) / 2
    assert np.all(np.abs(middle) <= 0.5)
    powers = middle[:, np.newaxis] ** np.arange(quality.width + 1)
    for tap in range(8):
        expected = kaiser_bessel(cells + tap - points, quality.width, shape)
        np.testing.assert_allclose(
            powers @ window.coefficients[:, tap], expected, atol=2e-3 / 10 ** (quality.width - 5)
        )


def test_what_is_divided_out_is_the_windows_transform(quality, shape):
    fine = np.linspace(-quality.width / 2, quality.width / 2, 20_001)
    values = kaiser_bessel(fine, quality.width, shape)
    frequencies = np.linspace(0, 0.5 / quality.oversampling, 7)
    expected = [np.trapezoid(values * np.cos(2 * np.pi * f * fine), fine) for f in frequencies]
    np.testing.assert_allclose(apodisation(frequencies, quality.width, shape), expected, rtol=1e-5)


def test_the_window_lets_little_through_beyond_its_band(quality, shape):
    """Its transform at the frequencies that fold back onto the image, against that in the middle of it."""
    folded = apodisation(1 - np.linspace(0, 0.5 / quality.oversampling, 20), quality.width, shape)
    assert np.abs(folded).max() < 3 * 10.0 ** -(quality.width - 2) * apodisation(
        np.zeros(1), quality.width, shape
    )
