"""Zingers and the unsharp mask, against NumPy and SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter, median_filter

from runner.tomo.correct.blur import reach
from runner.tomo.correct.margins import BLOCK, blocks_around, widened, within
from runner.tomo.correct.unsharp import sharpen
from runner.tomo.correct.zingers import remove_zingers
from runner.tomo.plan import ALIGNMENT


def test_blocks_are_those_that_chunks_are_aligned_to():
    assert BLOCK == ALIGNMENT


@given(first=st.integers(0, 90), rows=st.integers(1, 50), margin=st.integers(0, 80), more=st.integers(0, 40))
def test_rows_and_their_margins_lie_on_the_detector(first, rows, margin, more):
    total = first + rows + more
    wanted = blocks_around(slice(first, first + rows), total)
    assert wanted.start % BLOCK == 0
    assert wanted.stop % BLOCK == 0 or wanted.stop == total
    assert wanted.start <= first < first + rows <= wanted.stop
    read = widened(wanted, margin, total)
    assert read.start == max(wanted.start - margin, 0)
    assert read.stop == min(wanted.stop + margin, total)
    assert list(range(read.start, read.stop))[within(wanted, read)] == list(range(wanted.start, wanted.stop))


@settings(max_examples=60, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 3), st.integers(1, 12)),
    threshold=st.floats(0.01, 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_zingers_are_what_is_brighter_than_the_median_of_nine(shape, threshold, seed):
    sinograms = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    expected = sinograms.copy()
    for angle in range(shape[1]):
        middle = median_filter(sinograms[:, angle], 3, mode="nearest")
        spots = sinograms[:, angle] < middle - np.float32(np.log1p(threshold))
        expected[:, angle][spots] = middle[spots]
    found = remove_zingers(sinograms.copy(), slice(0, shape[0]), threshold, threads=2)
    assert found.tobytes() == expected.tobytes()


def test_a_zinger_goes_and_nothing_else():
    random = np.random.default_rng(1)
    clean = (1 + random.normal(0, 0.01, (6, 4, 30))).astype(np.float32)
    hit = clean.copy()
    hit[2, 1, 7] = hit[3, 1, 7] = -0.5  # over four times as bright, two pixels
    hit[4, 2, 20] = 3.0  # dark: none
    found = remove_zingers(hit.copy(), slice(0, 6), 0.2)
    assert found[2:4, 1, 7] == pytest.approx([1, 1], abs=0.05)
    assert np.count_nonzero(found != hit) == 2
    assert remove_zingers(hit[1:5].copy(), slice(1, 3), 0.2).tobytes() == found[2:4].tobytes()


def test_the_unsharp_mask_is_its_formula_and_its_margin_suffices():
    projections = np.random.default_rng(2).normal(size=(40, 3, 25)).astype(np.float32)
    blurred = gaussian_filter(projections, (1.5, 0, 1.5), mode="nearest")
    whole = sharpen(projections.copy(), slice(0, 40), sigma=1.5, coeff=2.0)
    assert whole == pytest.approx(3 * projections - 2 * blurred, abs=1e-5)
    margin = reach(1.5)
    part = sharpen(
        projections[10 - margin : 20 + margin].copy(),
        slice(margin, margin + 10),
        sigma=1.5,
        coeff=2.0,
        threads=2,
    )
    assert part.tobytes() == whole[10:20].tobytes()
