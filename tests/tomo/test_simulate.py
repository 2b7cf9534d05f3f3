"""A simulated scan opens as any other, holds what it was made from, and has the faults it promises."""

import h5py
import numpy as np
import pytest

from runner.errors import ScanError, UsageError, WriteError
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.phantom import project
from runner.tomo.scan import open_scan
from runner.tomo.scan.read import read_frames
from runner.tomo.simulate import Settings, read_truth, write_scan

SMALL = {"columns": 64, "rows": 16, "angles": 90, "flats": 5, "darks": 4}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "scan.nx"


def test_it_opens_as_a_scan(path):
    write_scan(path, Settings(**SMALL))
    scan = open_scan(path)
    assert (scan.format, scan.entry, scan.projections.count) == ("nxtomo", "entry", 90)
    assert [(group.frames.count, group.position) for group in scan.flats] == [(5, 0), (5, 90)]
    assert [(group.frames.count, group.position) for group in scan.darks] == [(4, 0)]
    assert scan.angles == pytest.approx(np.arange(90) * 2.0)
    assert (scan.dtype, scan.energy, scan.distance) == (np.uint16, 25.0, 0.1)
    assert scan.pixel_size == pytest.approx(1.024e-2 / 64)


def test_it_says_what_it_was_made_from(path):
    truth = write_scan(path, Settings(**SMALL, center=29.25))
    assert read_truth(path) == truth
    assert truth.detector.center == 29.25
    assert len(truth.ellipsoids) == 8


def test_without_noise_the_correction_gives_the_line_integrals_back(path):
    """Though the beam drifts: its flats are interpolated as it drifts."""
    truth = write_scan(path, Settings(**SMALL, noise=False))
    scan = open_scan(path)
    exact = project(truth.ellipsoids, scan.angles, truth.detector).swapaxes(0, 1)
    sinograms = corrected_sinograms(scan, slice(0, 16))
    assert np.abs(sinograms - exact).max() < 1e-5
    first, last = (read_frames(group.frames, slice(0, 16)).mean() for group in scan.flats)
    assert last < 0.96 * first
    assert 0.2 < np.exp(-exact).min() < 0.9


def test_with_noise_it_has_photon_noise_dead_pixels_and_gain_errors(path):
    truth = write_scan(path, Settings(**SMALL))
    scan = open_scan(path)
    frames = read_frames(scan.projections, slice(0, 16))
    dead = (frames == 0).all(axis=0)
    assert dead.sum() == 1
    exact = project(truth.ellipsoids, scan.angles, truth.detector)
    error = corrected_sinograms(scan, slice(0, 16)).swapaxes(0, 1) - exact
    noise = error[:, ~dead].std()
    assert 0.003 < noise < 0.02
    column = np.abs(error.mean(axis=(0, 1)))  # the faulty column stays after all averaging
    assert column.max() > 5 * np.median(column)


def test_the_same_seed_gives_the_same_scan(tmp_path):
    def frames(name, seed):
        write_scan(tmp_path / name, Settings(**SMALL, seed=seed))
        return read_frames(open_scan(tmp_path / name).projections, slice(0, 16))

    one, same, other = frames("a.nx", 1), frames("b.nx", 1), frames("c.nx", 2)
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_an_existing_file_is_kept_unless_told(path):
    path.write_text("precious")
    with pytest.raises(WriteError, match=r"exists already.*--overwrite"):
        write_scan(path, Settings(**SMALL))
    assert path.read_text() == "precious"
    write_scan(path, Settings(**SMALL), overwrite=True)
    assert open_scan(path).rows == 16


def test_what_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path):
    with pytest.raises(WriteError, match=r"none/scan\.nx cannot be written"):
        write_scan(tmp_path / "none" / "scan.nx", Settings(**SMALL))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bad", [{"rows": 0}, {"angles": -1}, {"columns": 32, "center": 40.0}])
def test_impossible_settings_are_refused(bad):
    with pytest.raises(UsageError):
        Settings(**bad)


def test_another_file_has_no_truth(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w"):
        pass
    with pytest.raises(ScanError, match="not a simulated scan"):
        read_truth(tmp_path / "a.h5")
