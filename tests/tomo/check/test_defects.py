"""Defective pixels: found among noise, not made of the sample, and interpolated in the volume."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.tomo.check import inspect
from runner.tomo.check.defects import find_defects, saturation_of
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.pipeline import reconstruct
from runner.tomo.scan.defects import KINDS, pack
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulated
from runner.tomo.simulate import write_scan
from runner.tomo.volume.hdf5 import read_defects

from .bad_scans import DATA

DEAD, HOT, SATURATED, STUCK, ODD = range(1, 6)


def detector(seed=0, views=9, shape=(40, 60)):
    """Flat, dark and views of half the beam, with the noise of some thousand counts."""
    random = np.random.default_rng(seed)
    flat = random.poisson(8000, shape).astype(np.float32) + 100
    dark = np.full(shape, 100, np.float32)
    return flat, dark, (random.poisson(4000, (views, *shape)) + 100).astype(np.uint16)


def test_each_kind_is_found_and_nothing_else():
    flat, dark, views = detector()
    flat[3, 4] = 100
    dark[10, 10], flat[10, 10] = 9000, 17000
    flat[20, 5] = views[:, 20, 5] = 65535
    views[:, 30, 30] = 4321
    views[:, 8, 50] += 3500
    views[:, 0, 0] //= 2
    found = find_defects(flat, dark, views, 65535)
    expected = np.zeros_like(found)
    expected[3, 4], expected[10, 10], expected[20, 5], expected[30, 30] = DEAD, HOT, SATURATED, STUCK
    expected[8, 50] = expected[0, 0] = ODD
    assert np.array_equal(found, expected)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), counts=st.sampled_from([3, 10, 100, 10_000]))
def test_noise_alone_is_no_defect(seed, counts):
    """However few the photons, and where there is no beam at all."""
    random = np.random.default_rng(seed)
    beam = np.full((40, 60), 10 * counts)
    beam[:, :10] = 1
    flats, darks = random.poisson(beam, (5, 40, 60)) + 20, random.poisson(1, (5, 40, 60)) + 19
    views = random.poisson(0.1 * beam, (9, 40, 60)).astype(np.uint16) + 20
    found = find_defects(np.median(flats, 0).astype("f4"), np.median(darks, 0).astype("f4"), views)
    assert not (found[:, 10:] > DEAD).any()


def test_a_grain_that_turns_is_no_defect_and_a_screw_that_stays_is_none():
    flat, dark, views = detector()
    rows, columns = np.indices(flat.shape)
    screw = np.clip(np.hypot(rows - 10, columns - 40) - 5, 0.1, 1)
    for number, view in enumerate(views):
        view[20, 20 + number] = 1000
        view[:] = view * screw
    assert not find_defects(flat, dark, views).any()


def test_exact_counts_without_noise_are_no_stuck_pixels():
    flat, dark = np.full((20, 30), 1000, np.float32), np.zeros((20, 30), np.float32)
    views = np.full((9, 20, 30), 1000, np.float32)
    views[:, :, 12:18] = np.linspace(300, 600, 9)[:, np.newaxis, np.newaxis]
    assert not find_defects(flat, dark, views).any()


def test_few_views_tell_nothing_of_what_does_not_change():
    flat, dark, views = detector(views=5)
    views[:, 8, 50] *= 2
    views[:, 3, 3] = 4000
    assert not find_defects(flat, dark, views).any()


def test_without_flats_and_darks_the_views_have_to_do():
    _, _, views = detector()
    views = views.astype(np.float32)
    views[:, 8, 50] *= 2
    views[:, 9, 9] = np.nan
    views[2, 9, 10] = np.nan
    found = find_defects(None, None, views)
    assert (found[8, 50], found[9, 9], np.count_nonzero(found)) == (ODD, DEAD, 2)
    assert (find_defects(None, None, np.full_like(views, np.nan)) == DEAD).all()


@pytest.mark.parametrize(
    ("top", "dtype", "expected"),
    [
        (4095, np.uint16, 4095),
        (16383, np.uint16, 16383),
        (4000, np.uint16, 65535),
        (200, np.uint8, 255),
        (4095, np.float32, 4095),
        (0.97, np.float32, np.inf),
        (63, np.uint16, 65535),
        (0, np.uint16, 65535),
    ],
)
def test_how_many_bits_a_camera_has(top, dtype, expected):
    assert saturation_of(np.array([[top, 0]], dtype), None) == expected


@given(seed=st.integers(0, 1000), shape=st.tuples(st.integers(1, 9), st.integers(1, 9)))
def test_a_map_comes_back_from_its_compressed_form(seed, shape):
    map_ = np.random.default_rng(seed).integers(0, len(KINDS) + 1, shape).astype(np.uint8)
    packed = pack(map_)
    assert np.array_equal(packed.map(), map_)
    assert packed.counts() == {kind: int((map_ == n).sum()) for n, kind in enumerate(KINDS, 1)}


@pytest.fixture
def spoilt(tmp_path):
    """A noisy scan, and the same with pixels that are faulty during the projections only."""
    paths = tmp_path / "good.nx", tmp_path / "spoilt.nx"
    for path in paths:
        write_scan(path, Simulated(rows=24, columns=64, angles=60, center=33, seed=3))
    with h5py.File(paths[1], "a") as file:
        frames = file[DATA][:]
        frames[20:80, 7, 30] = 60000  # 10 darks, 10 flats, 60 projections, 10 flats
        frames[20:80, 15, 40] //= 3
        file[DATA][:] = frames
    return paths


def test_defects_are_interpolated_however_the_rows_are_cut(spoilt):
    good, bad = (inspect(path).usable() for path in spoilt)
    assert {(7, 30), (15, 40)} == {tuple(p) for p in np.argwhere(bad.defects.map() != good.defects.map())}
    whole = corrected_sinograms(bad, slice(0, 24))
    neighbours = whole[15, :, [39, 41]].mean(axis=0)
    assert whole[15, :, 40] == pytest.approx(neighbours, abs=1e-6)
    assert corrected_sinograms(bad, slice(15, 16)).tobytes() == whole[15:16].tobytes()
    as_it_is = corrected_sinograms(replace(bad, defects=None), slice(15, 16))[0, :, 40]
    assert (as_it_is > neighbours + 0.9).all()


def test_the_volume_keeps_the_map_and_the_counts(spoilt, tmp_path, client):
    notes = []
    chosen = Settings(center=33.0, rows="4:12")
    made = reconstruct(spoilt[1], tmp_path / "volume.h5", chosen, client, on_note=notes.append)
    with h5py.File(made.volume) as file:
        assert file["entry/reconstruction/parameters/pixels_odd"][()] == 1
        assert file["entry/reconstruction/defects"].attrs["stuck"] == STUCK
    kept = read_defects(made.volume)
    assert (kept.map()[7, 30], kept.map()[15, 40]) == (STUCK, ODD)
    assert sum("(stuck): 1 of 1536" in note for note in notes) == 1
    plain = replace(chosen, defects=False)
    assert read_defects(reconstruct(spoilt[1], tmp_path / "plain.h5", plain, client).volume) is None
