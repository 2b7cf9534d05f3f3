"""Registration finds the mirror axis of two signals, wherever it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.tomo.axis.register import register


def bumps(seed, count=6):
    random = np.random.default_rng(seed)
    return random.uniform(-0.35, 0.35, count), random.uniform(0.02, 0.1, count), random.uniform(0.2, 2, count)


def signal(position, seed):
    places, widths, heights = bumps(seed)
    return (heights * np.exp(-0.5 * ((position[..., np.newaxis] - places) / widths) ** 2)).sum(-1)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), columns=st.integers(120, 401), shift=st.floats(-0.2, 0.2))
def test_the_mirror_axis_is_found(seed, columns, shift):
    center = (columns - 1) / 2 + shift * columns
    u = (np.arange(columns) - center) / columns
    first = np.stack([signal(u, seed), 0.5 * signal(u, seed + 1)]).astype(np.float32)
    second = np.stack([signal(-u, seed), 0.5 * signal(-u, seed + 1)]).astype(np.float32)
    vote = register(first, second).peak()
    assert vote.position == pytest.approx(center, abs=0.1)
    assert vote.score > 0.99


def test_the_scores_are_those_of_the_overlap():
    random = np.random.default_rng(3)
    first, second = random.normal(5, 1, (2, 1, 41)).astype(np.float32)
    match = register(first, second)
    assert np.diff(match.centers) == pytest.approx(0.5)
    for index in (0, len(match.centers) // 3, len(match.centers) - 1):
        twice = round(2 * match.centers[index])  # column u of one is column twice - u of the other
        seen = [u for u in range(41) if 0 <= twice - u < 41]
        expected = np.corrcoef(first[0, seen], second[0, [twice - u for u in seen]])[0, 1]
        assert match.scores[index] == pytest.approx(expected, abs=1e-9)
        assert match.overlaps[index] == len(seen)


@pytest.mark.parametrize(("center", "found"), [(50, 50), (-20, np.inf), (3, np.inf), (120, np.inf)])
def test_an_axis_beyond_the_search_is_said_to_be_there(center, found):
    bump = np.exp(-(((np.arange(100) - center) / 30) ** 2)).astype(np.float32)[np.newaxis]
    assert register(bump, bump).peak().position == pytest.approx(found, abs=0.01)


def test_nothing_to_see_has_no_score():
    vote = register(np.ones((2, 50), np.float32), np.ones((2, 50), np.float32)).peak()
    assert (vote.score, vote.weight) == (0, 0)
