"""The correction by its formula, on drifting beams, on pixels without signal, and cut in any way."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.tomo.correct.flatfield import corrected_sinograms, line_integrals, mean_frame, median_frame
from runner.tomo.scan import open_scan


def times(count):
    return np.arange(count) + 0.5


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float32, np.float64, ">u2"])
def test_the_formula(dtype):
    random = np.random.default_rng(1)
    projections = random.integers(20, 200, (6, 3, 5)).astype(dtype)
    dark, flat = np.full((3, 5), 10.5, np.float32), random.uniform(200, 250, (3, 5)).astype(np.float32)
    sinograms = line_integrals(projections, times(6), dark, [flat], [3.0])
    expected = -np.log((projections.astype(float) - dark) / (flat.astype(float) - dark))
    assert (sinograms.shape, sinograms.dtype) == ((3, 6, 5), np.float32)
    assert sinograms == pytest.approx(expected.swapaxes(0, 1), abs=1e-6)


def test_transmission_is_clipped():
    projections = np.array([[[0, 10, 11, 10_000]]], np.uint16)
    dark, flat = np.full((1, 4), 10, np.float32), np.full((1, 4), 110, np.float32)
    sinograms = line_integrals(projections, times(1), dark, [flat], [0.0])
    assert sinograms.ravel() == pytest.approx(-np.log([1e-6, 1e-6, 0.01, 10]), rel=1e-6)


def test_frames_are_reduced_by_mean_and_median():
    stack = np.array([[[1, 2]], [[3, 65535]], [[8, 4]]], np.uint16)
    assert mean_frame([stack[:1], stack[1:]]).tolist() == [[4, pytest.approx(65541 / 3)]]
    assert median_frame(stack).tolist() == [[3, 4]]
    assert median_frame(stack[:2]).tolist() == [[2, 32768.5]]


@given(
    count=st.integers(1, 12),
    places=st.lists(st.integers(0, 12), min_size=1, max_size=4, unique=True).map(sorted),
)
def test_a_beam_that_drifts_from_flat_to_flat_leaves_nothing(count, places):
    """Piecewise linear between the flats, constant outside: exactly what is assumed is taken away."""
    positions = [float(min(place, count)) for place in sorted({min(place, count) for place in places})]
    beams = [1000.0 * (2 + index % 2) + 100 * index for index in range(len(positions))]
    beam = np.interp(times(count), positions, beams)
    projections = np.tile((beam * 0.25)[:, np.newaxis, np.newaxis], (1, 2, 3))
    flats = [np.full((2, 3), value, np.float32) for value in beams]
    sinograms = line_integrals(projections, times(count), np.zeros((2, 3), np.float32), flats, positions)
    assert sinograms == pytest.approx(np.full(sinograms.shape, np.log(4)), abs=2e-6)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 40)),
    cut=st.integers(0, 9),
    kind=st.sampled_from([np.uint16, np.float32]),
)
def test_every_split_of_the_rows_gives_the_same_bits(seed, shape, cut, kind):
    random = np.random.default_rng(seed)
    stack = (random.uniform(0, 3000, shape)).astype(kind)
    flats = (random.uniform(1000, 4000, (3, *shape[1:]))).astype(kind)
    darks = (random.uniform(0, 1100, (5, *shape[1:]))).astype(kind)

    def correct(rows):
        return line_integrals(
            stack[:, rows],
            times(len(stack)),
            mean_frame([darks[:2, rows], darks[2:, rows]]),
            [median_frame(flats[:, rows]), median_frame(flats[:2, rows])],
            [0.0, float(len(stack))],
        )

    whole = correct(slice(None))
    parts = [correct(slice(0, cut)), correct(slice(cut, None))] if 0 < cut < shape[1] else [whole]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert np.isfinite(whole).all()


def test_some_projections_are_corrected_as_in_the_whole(shared_data):
    scan = open_scan(shared_data / "formats/k11_diad/k11-18014.nxs")  # flats at both ends
    chosen = np.array([0, 1, 1500, 2999, 3000])
    some = corrected_sinograms(scan, slice(3, 5), chosen=chosen)
    assert some.tobytes() == corrected_sinograms(scan, slice(3, 5))[:, chosen].tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e30])
@pytest.mark.parametrize("where", ["projections", "dark", "flat"])
def test_the_result_is_finite_whatever_a_pixel_says(where, value):
    frames = {
        "projections": np.full((4, 2, 6), 50, np.float32),
        "dark": np.full((2, 6), 10, np.float32),
        "flat": np.full((2, 6), 90, np.float32),
    }
    frames[where][..., 1, 2] = value
    sinograms = line_integrals(
        frames["projections"], times(4), frames["dark"], [frames["flat"]] * 2, [0.0, 4.0]
    )
    assert np.isfinite(sinograms).all()
    sinograms[1, :, 2] = np.log(2)
    assert sinograms == pytest.approx(np.full((2, 4, 6), np.log(2)), rel=1e-6)


def test_a_dead_pixel_is_interpolated_in_its_row():
    dark, flat = np.zeros((1, 5), np.float32), np.full((1, 5), 100, np.float32)
    flat[0, 2] = 0  # never sees the beam
    projections = np.array([[[90, 80, 7, 40, 30]]], np.uint16)
    line = line_integrals(projections, times(1), dark, [flat], [0.0])[0, 0]
    assert line[2] == pytest.approx((line[1] + line[3]) / 2)
    everywhere = line_integrals(projections, times(1), dark, [dark], [0.0])
    assert not everywhere.any()


def test_a_real_scan_by_the_conventions_of_the_references(shared_data):
    """The scan with a dead pixel, against the same formula in double precision."""
    path = shared_data / "scans/savu24737_nxtomo.nx"
    scan = open_scan(path)
    sinograms = corrected_sinograms(scan, slice(0, 135))
    with h5py.File(path, "r", locking=False) as file:
        dark, flat, *rest = file["entry0000/instrument/detector/data"][()].astype(float)
    expected = -np.log((np.array(rest) - dark) / np.where(flat > dark, flat - dark, np.nan))
    assert np.count_nonzero(np.isnan(expected)) == 91
    assert np.nanmax(np.abs(sinograms - expected.swapaxes(0, 1))) < 1e-6
    assert np.array_equal(sinograms[0, :, 0], sinograms[0, :, 1])


def test_several_groups_of_darks_count_by_their_frames(shared_data):
    scan = open_scan(shared_data / "formats/k11_diad/k11-18014.nxs")
    one = replace(scan.darks[0].frames, indices=np.concatenate([g.frames.indices for g in scan.darks]))
    joined = replace(scan, darks=(replace(scan.darks[0], frames=one),))
    rows = slice(0, 2)
    assert corrected_sinograms(joined, rows).tobytes() == corrected_sinograms(scan, rows).tobytes()
