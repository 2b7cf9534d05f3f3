import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.report.chart import Plane, drawing, ticks


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(3, 9))
def test_ticks_are_few_round_and_within(low, span, most):
    found = ticks(low, low + span, most)  # of two at most there may be none: a step of 5 beyond both ends
    assert 1 <= len(found) <= most + 1
    assert all(low - 1e-6 * span <= tick <= low + span * (1 + 1e-6) for tick in found)
    for before, after in itertools.pairwise(found):
        step = after - before
        digit = step / 10 ** math.floor(math.log10(step) + 1e-6)
        assert digit == pytest.approx(round(digit), abs=1e-3)
        assert round(digit) in {1, 2, 5, 10}


def test_a_range_of_one_value_has_one_tick():
    assert ticks(3.0, 3.0) == [3.0]


def test_the_plane_has_its_corners_where_they_belong():
    plane = Plane(x=(0.0, 10.0), y=(100.0, 0.0), width=200.0, height=100.0)
    left, right = plane.across(0), plane.across(10)
    assert 0 < left < right < 200
    assert plane.down(0.0) < plane.down(100.0) < 100
    assert plane.line([0, 10], [0, 100]) == (
        f"{left:.1f},{plane.down(0):.1f} {right:.1f},{plane.down(100):.1f}"
    )


def test_words_cannot_become_tags():
    drawn = drawing(Plane(x=(0, 1), y=(0, 1)), [Plane(x=(0, 1), y=(0, 1)).scales("<b>", "a & b")], '"><i>')
    assert "<b>" not in drawn
    assert "<i>" not in drawn
    assert "a &amp; b" in drawn
