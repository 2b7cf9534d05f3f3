"""Pairs of views are 180 degrees apart, to the last digit, or there are none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ScanError
from runner.tomo.axis.pairs import opposite_pairs


def angle_of(view, angles):
    before, after = (angles[number] for number in view.numbers)
    return before + view.weight * (after - before)


@given(
    count=st.integers(20, 400),
    start=st.floats(-400, 400),
    span=st.sampled_from([180.0, 200.0, 360.0, 361.5, 720.0]),
    endpoint=st.booleans(),
    backwards=st.booleans(),
    jitter=st.floats(0, 0.3),
    most=st.integers(1, 15),
)
def test_views_of_a_pair_are_exactly_opposite(count, start, span, endpoint, backwards, jitter, most):
    step = span / (count - 1 if endpoint else count)
    wobble = np.random.default_rng(count).uniform(-jitter, jitter, count) * step
    angles = start + np.arange(count) * step + wobble
    if backwards:
        angles = angles[::-1]
    pairs = opposite_pairs(angles, most=most)
    usual = np.median(
        np.abs(np.diff(angles))
    )  # some steps are less than half of it: no measure of what is far
    assert 1 <= len(pairs) <= most
    for pair in pairs:
        first, second = angle_of(pair.first, angles), angle_of(pair.second, angles)
        assert first == pytest.approx(pair.angle, abs=1e-9)
        assert second - first == pytest.approx(180, abs=1e-9)
        for view in (pair.first, pair.second):  # nowhere far from what was measured
            near = min(abs(angle_of(view, angles) - angles[number]) for number in view.numbers)
            assert near <= 1.5 * usual + 1e-9


@pytest.mark.parametrize(
    ("angles", "numbers"),
    [
        (np.arange(181) * 1.0, [(0, 180)]),
        (np.arange(-88.0, 93.0, 2.0), [(0, 90)]),
        (np.arange(360) * 1.0, [(0, 180), (90, 270), (179, 359)]),
        (np.array([180.0, 0, 90]), [(1, 0)]),
    ],
)
def test_measured_projections_are_used_as_they_are(angles, numbers):
    def measured(view):
        assert view.weight in {0, 1}
        return view.numbers[int(view.weight)]

    pairs = opposite_pairs(angles, most=3)
    assert [(measured(pair.first), measured(pair.second)) for pair in pairs] == numbers


def test_a_scan_that_stops_a_step_early_is_extrapolated_by_half_a_step_at_both_ends():
    (pair,) = opposite_pairs(np.arange(180) * 1.0)
    assert (pair.first.numbers, pair.first.weight) == ((0, 1), pytest.approx(-0.5))
    assert (pair.second.numbers, pair.second.weight) == ((178, 179), pytest.approx(1.5))


@pytest.mark.parametrize(
    "angles",
    [
        np.arange(0, 170, 1.0),
        np.arange(0, 177, 1.0),
        np.array([5.0]),
        np.array([]),
        np.array([7.0, 7.0, 7.0]),
        np.concatenate([np.arange(0, 60, 1.0), np.arange(300.5, 345.5, 1.0)]),  # opposite to the gap only
    ],
)
def test_without_opposite_views_there_is_no_guess(angles):
    with pytest.raises(ScanError, match=r"180 degrees apart.*--center PX"):
        opposite_pairs(angles)


def test_no_view_is_interpolated_across_a_gap():
    angles = np.concatenate([np.arange(0, 60, 1.0), np.arange(200, 300, 1.0)])
    pairs = opposite_pairs(angles)
    assert pairs
    assert all(pair.angle >= 20 for pair in pairs)  # from 200 on there are opposite ones
