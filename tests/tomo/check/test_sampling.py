"""Directions are counted once, from whichever side they were seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.check.sampling import check_sampling, directions


@given(
    count=st.integers(2, 400),
    start=st.floats(-400, 400),
    turn=st.sampled_from([180, 360]),
    backwards=st.booleans(),
)
def test_evenly_spread_angles(count, start, turn, backwards):
    """Over a full turn, an even number of views are pairs of opposite ones."""
    angles = start + np.arange(count) * turn / count
    expected = count // 2 if turn == 360 and count % 2 == 0 else count
    assert directions(angles[::-1] if backwards else angles) == expected


@given(count=st.integers(2, 400), start=st.floats(-400, 400))
def test_an_end_that_shows_the_start_again_is_no_direction_more(count, start):
    assert directions(np.linspace(start, start + 180, count + 1)) == count


@pytest.mark.parametrize(
    ("count", "level"), [(1609, None), (1600, "note"), (403, "note"), (400, "warning"), (3, "warning")]
)
def test_how_bad_it_is(count, level):
    """2048 columns want 3217 directions."""
    found = check_sampling(np.arange(count) * 180 / count, 2048)
    assert [finding.level for finding in found] == ([level] if level else [])
    assert all(f"{count} directions are few for 2048 columns: 3217" in finding.what for finding in found)


def test_a_turn_of_few_steps_is_as_good_as_half_of_them():
    assert check_sampling(np.arange(3300) * 360 / 3300, 2048) == []
    assert len(check_sampling(np.arange(3000) * 360 / 3000, 2048)) == 1
