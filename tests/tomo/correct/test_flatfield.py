"""The correction by its formula, on drifting beams, on pixels without signal, and cut in any way."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.tomo.correct.flatfield import (
    corrected_sinograms,
    counts_from,
    integrals_of,
    mean_frame,
    median_frame,
)
from runner.tomo.correct.lines import _fill_gaps
from runner.tomo.correct.logarithm import log
from runner.tomo.scan import open_scan
from tests.tomo.correct import oracle


def times(count):
    return np.arange(count) + 0.5


def line_integrals(*frames, threads=1, **gains):
    return integrals_of(counts_from(*frames, **gains), threads=threads)


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


own_log = np.vectorize(lambda x: x if np.isnan(x) else log(x), otypes=[np.float32])


@settings(max_examples=150, deadline=None)
@given(data=st.data(), threads=st.integers(1, 3))
def test_it_is_what_numpy_computes_whatever_the_pixels_the_flats_and_the_threads(data, threads):
    """To the last bit, but for the logarithm, which has a test of its own."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = data.draw(st.tuples(st.integers(1, 40), st.integers(1, 4), st.integers(1, 40)))
    kind = data.draw(st.sampled_from(["u1", "u2", ">u2", "i2", "i4", "u4", "f4", ">f4", "f8"]))
    projections = (random.uniform(0, 250, shape) * random.choice([1e-3, 1, 1], shape)).astype(kind)
    dark = random.uniform(0, 30, shape[1:]).astype(np.float32)
    count = data.draw(st.integers(1, 4))
    flats = random.uniform(100, 240, (count, *shape[1:])).astype(np.float32)
    flats[random.uniform(size=flats.shape) < data.draw(st.sampled_from([0, 0.1, 0.9, 1]))] = 0
    if projections.dtype.kind == "f":
        projections[random.uniform(size=shape) < 0.05] = random.choice([np.nan, np.inf, -np.inf])
    places = st.integers(0, 2 * shape[0]).map(lambda place: place / 2)
    positions = sorted(data.draw(st.lists(places, min_size=count, max_size=count, unique=True)))
    found = line_integrals(projections, times(shape[0]), dark, list(flats), positions, threads=threads)
    expected = oracle.line_integrals(projections, times(shape[0]), dark, list(flats), positions, log=own_log)
    assert np.isfinite(found).all()
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("gaps", [[0], [5], [2, 3], [0, 1, 4], [1, 3, 5], [0, 1, 2, 3, 4, 5]])
def test_gaps_are_filled_as_numpy_interpolates(gaps):
    line = np.random.default_rng(3).normal(size=(1, 6)).astype(np.float32)
    line[0, gaps] = np.nan
    expected = line.copy()
    oracle.fill_gaps(expected)
    _fill_gaps(line[0])
    assert line.tobytes() == expected.tobytes()


def test_the_logarithm_is_less_than_one_unit_off_for_every_transmission():
    x = np.geomspace(1e-6, 10, 200_001).astype(np.float32)
    x = np.concatenate([x, np.nextafter(np.float32(1), [0, 2], dtype=np.float32), [np.float32(1)]])
    ones = np.ones((1, 1, x.size), np.float32)
    found = -line_integrals(x[np.newaxis, np.newaxis], times(1), 0 * ones[0], [ones[0]], [0.0]).ravel()
    exact = np.log(x.astype(float))
    assert (np.abs(found - exact) < np.spacing(np.abs(exact).astype(np.float32))).all()
    assert found[-1] == 0


@pytest.mark.parametrize("count", [1, 15, 16, 17, 33, 100])
def test_no_bit_depends_on_the_threads_or_the_angles_beside(count):
    random = np.random.default_rng(count)
    projections = random.integers(0, 65535, (count, 3, 50)).astype(np.uint16)
    flats = list(random.uniform(3e4, 6e4, (2, 3, 50)).astype(np.float32))
    dark = np.full((3, 50), 100, np.float32)
    whole = line_integrals(projections, times(count), dark, flats, [0.0, float(count)])
    for threads in (2, 5):
        same = line_integrals(projections, times(count), dark, flats, [0.0, float(count)], threads=threads)
        assert same.tobytes() == whole.tobytes()
    last = line_integrals(projections[-1:], times(count)[-1:], dark, flats, [0.0, float(count)])
    assert last.tobytes() == whole[:, -1:].tobytes()
