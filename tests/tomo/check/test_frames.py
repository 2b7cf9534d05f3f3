"""Which projections count as lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.check.frames import lost

DARK = 100.0


def test_a_thick_plate_seen_from_its_edge_is_not_lost():
    angles = np.deg2rad(np.arange(0, 180, 1.0))
    thickness = 0.3 / np.maximum(np.abs(np.cos(angles)), 0.04)
    levels = DARK + 1e4 * np.exp(-thickness)
    assert levels.min() - DARK < 0.01 * np.median(levels - DARK)  # as dark as a lost frame
    assert not lost(levels, DARK).any()


@given(st.sets(st.integers(0, 39), max_size=12), st.sampled_from([0.0, DARK, DARK + 20]))
def test_frames_without_light_between_bright_ones_are_lost(places, level):
    levels = np.full(40, 5000.0)
    levels[list(places)] = level
    assert set(np.flatnonzero(lost(levels, DARK))) == places


@pytest.mark.parametrize("seen", [slice(0, None, 4), slice(0, 40)])
def test_what_was_not_looked_at_is_not_lost(seen):
    levels = np.full(40, np.nan)
    levels[seen] = 5000.0
    levels[20] = 0.0
    assert np.flatnonzero(lost(levels, DARK)).tolist() == [20]
