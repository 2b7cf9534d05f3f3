import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.axis.finding import Band
from runner.tomo.axis.tilt import fit_line


def bands(places, weights=None):
    weights = [1.0] * len(places) if weights is None else weights
    return tuple(
        Band(start=20 * n, stop=20 * n + 10, position=place, weight=weight)
        for n, (place, weight) in enumerate(zip(places, weights, strict=True))
    )


@given(st.floats(0.005, 0.2), st.sampled_from([-1, 1]), st.integers(5, 12))
def test_a_line_is_found_and_told_for_the_middle_row(slope, sign, number):
    slope *= sign
    rows = 20 * np.arange(number) + 4.5
    line = fit_line(bands(100 + slope * rows), 77.0)
    assert line.measured == pytest.approx(slope, abs=1e-9)
    assert line.slope in (0, line.measured)
    if abs(abs(slope) * np.ptp(rows) - 0.5) > 1e-9:
        assert (line.slope != 0) == (abs(slope) * np.ptp(rows) > 0.5)
    if line.slope:
        assert line.position == pytest.approx(100 + slope * 77, abs=1e-6)
        assert line.degrees == pytest.approx(np.rad2deg(np.arctan(slope)))


def test_outliers_make_no_tilt():
    assert fit_line(bands([40.0] * 7 + [90.0, np.inf]), 80).slope == 0
    line = fit_line(bands([40.0 + n for n in range(7)] + [3.0], [1.0] * 7 + [0.01]), 80)
    assert line.slope == pytest.approx(1 / 20)


def test_noise_is_no_tilt():
    random = np.random.default_rng(1)
    found = [fit_line(bands(40 + random.normal(0, 0.5, 9)), 80).slope for _ in range(200)]
    assert sum(slope != 0 for slope in found) <= 2


def test_few_bands_tell_no_tilt():
    assert fit_line(bands([40.0, 41.0, 42.0]), 20).slope == 0


def test_bands_that_see_nothing():
    line = fit_line(bands([np.inf, np.inf]), 20)
    assert np.isinf(line.position)
    assert line.slope == 0
