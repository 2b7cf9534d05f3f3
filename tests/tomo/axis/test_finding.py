import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.axis.finding import Curve, Finding, parabola_top, weighted_median


def test_the_weighted_median_is_not_moved_by_light_outliers():
    values, weights = np.array([50.0, 10.0, 11.0, 90.0]), np.array([1.0, 5.0, 5.0, 1.0])
    assert weighted_median(values, weights) == 11
    assert weighted_median(np.array([3.0]), np.array([0.0])) == 3


@given(st.floats(-0.49, 0.49), st.floats(0.1, 10))
def test_the_top_of_a_parabola_is_found(top, bend):
    values = [-bend * (x - top) ** 2 for x in (-1, 0, 1)]
    assert parabola_top(*values) == pytest.approx(top, abs=1e-6)


def test_a_curve_without_a_bend_has_its_top_where_it_is():
    assert parabola_top(1.0, 1.0, 1.0) == 0


@given(st.floats(3, 15))
def test_the_peak_of_a_curve_lies_between_its_points(top):
    centers = np.arange(0, 20, 0.5)
    assert Curve(centers=centers, scores=-((centers - top) ** 2)).peak() == pytest.approx(top, abs=1e-6)


@pytest.mark.parametrize("slope", [-1, 1])
def test_a_curve_that_ends_highest_has_no_peak(slope):
    assert np.isinf(Curve(centers=np.arange(9.0), scores=slope * np.arange(9.0)).peak())


def test_a_finding_says_its_doubt():
    assert str(Finding(method="sharpness", position=4.126, spread=0.1)) == "sharpness 4.13 +- 0.10"
    doubtful = Finding(method="sharpness", position=np.inf, spread=np.inf, doubt="no best")
    assert str(doubtful) == "sharpness nothing (no best)"
