"""Views share half a turn as they are spread."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.reconstruct.shares import shares_of


@pytest.mark.parametrize(
    "angles",
    [
        np.arange(0, 180, 0.5),
        np.arange(-88.2, 91, 2),
        np.arange(0, 360, 0.5),
        np.arange(360, 0, -1.5),
        np.arange(0, 120, 1.0),  # less than half a turn: nothing to go by
        np.random.default_rng(1).permutation(np.arange(0, 180, 0.5)),
    ],
)
def test_even_views_count_the_same(angles):
    assert shares_of(angles) is None


@pytest.mark.parametrize("span", [180, 360])
def test_ends_that_meet_count_half(span):
    shares = np.array(shares_of(np.linspace(10, 10 + span, 91)))
    assert shares[[0, -1]] == pytest.approx(np.pi / 180)
    assert shares[1:-1] == pytest.approx(np.pi / 90)


def test_what_is_seen_twice_counts_once():
    shares = np.array(shares_of(np.arange(0, 200, 1.0)))
    assert shares.sum() == pytest.approx(np.pi)
    assert shares[30:150] == pytest.approx(np.pi / 180)
    assert shares[5] + shares[185] == pytest.approx(np.pi / 180)


@given(st.lists(st.floats(0, 360), min_size=3, max_size=60, unique=True))
def test_the_shares_are_half_a_turn(angles):
    shares = shares_of(np.array(angles))
    if shares is not None:
        assert sum(shares) == pytest.approx(np.pi)
        assert min(shares) >= 0
