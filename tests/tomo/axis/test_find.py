"""The rotation axis: on real scans, on simulated ones, and refused where the evidence is against it."""

import shutil
import time
from dataclasses import replace

import h5py
import numpy as np
import pytest
from scipy.ndimage import shift

from runner.errors import ScanError
from runner.tomo.axis.find import find_center, rows_to_look_at, spread_bands
from runner.tomo.axis.finding import Band
from runner.tomo.scan import open_scan
from runner.tomo.simulate import Settings, write_scan

from .random_scans import estimate, random_scan


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("tooth_nxtomo.nx", 295.5, 296.5),
        ("tooth_dxchange.h5", 295.5, 296.5),
        ("savu24737_nxtomo.nx", 85.5, 86.25),
    ],
)
def test_real_scans(shared_data, name, least, most):
    axis = find_center(open_scan(shared_data / "scans" / name))
    assert least <= axis.position <= most
    assert axis.confidence == "high"
    assert axis.agreement > 0.9
    assert axis.spread < 0.5


def test_single_rows_of_a_real_scan(shared_data):
    """Where the sample is; the uppermost rows hold little of it."""
    axis = find_center(open_scan(shared_data / "scans/savu24737_nxtomo.nx"), bands=135)
    assert len(axis.bands) == 135
    for band in axis.bands[60:]:
        assert band.position == pytest.approx(85.85, abs=0.25)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """Have them compiled, if this is the first that needs them."""
    path = tmp_path_factory.mktemp("first") / "scan.nx"
    write_scan(path, Settings(columns=96, rows=16, angles=120))
    find_center(open_scan(path))


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("span", [180.0, 360.0])
@pytest.mark.parametrize("noise", [True, False])
def test_the_demonstration_scan(tmp_path, noise, span):
    truth = write_scan(tmp_path / "scan.nx", Settings(noise=noise, span=span, start=33.0))
    scan = open_scan(tmp_path / "scan.nx")
    started = time.process_time()  # about two seconds, however busy the machine is
    axis = find_center(scan)
    assert time.process_time() - started < 10
    assert axis.position == pytest.approx(truth.detector.center, abs=0.1)
    assert len(axis.bands) == 9
    assert len(axis.pairs) == (1 if span == 180 else 12)


@pytest.mark.parametrize("seed", range(15))
def test_random_scans(seed):
    """All turns three times; python -m tests.tomo.axis.random_scans makes hundreds."""
    scan = random_scan(seed)
    assert estimate(scan).position == pytest.approx(scan.center, abs=0.5)


def test_a_tilted_axis(shared_data, tmp_path):
    """A real scan, sheared by 0.02 columns a row."""
    slope, scan = 0.02, open_scan(shared_data / "scans/savu24737_nxtomo.nx")
    upright = find_center(scan)
    assert upright.slope == 0
    path = tmp_path / "sheared.nx"
    shutil.copy(scan.path, path)
    with h5py.File(path, "r+") as file:
        frames = file[scan.projections.dataset]
        pixels = frames[:].astype(np.float32)
        for row in range(pixels.shape[1]):
            pixels[:, row] = shift(pixels[:, row], (0, slope * (row - 67)), mode="nearest", order=1)
        del file[scan.projections.dataset]
        file[scan.projections.dataset] = pixels
    tilted = find_center(open_scan(path))
    assert tilted.slope == pytest.approx(slope, abs=0.003)
    assert tilted.position == pytest.approx(upright.position, abs=0.2)
    for band in tilted.bands[4:]:
        assert band.position == pytest.approx(upright.position + slope * (band.middle - 67), abs=0.3)


def test_wrong_angles_are_refused(shared_data):
    scan = open_scan(shared_data / "scans/savu24737_nxtomo.nx")
    for factor in (1.5, 2):
        with pytest.raises(ScanError, match="--center PX"):
            find_center(replace(scan, angles=scan.angles * factor))


def test_frames_without_an_object_are_refused(tmp_path):
    path = tmp_path / "scan.nx"
    write_scan(path, Settings(columns=64, rows=16, angles=40, flats=40))
    scan = open_scan(path)
    beam = scan.flats[0].frames
    with pytest.raises(ScanError, match=r"no method is certain: opposite views .*--center PX"):
        find_center(replace(scan, projections=beam, angles=scan.angles * 2))


def test_a_scan_of_less_than_half_a_turn_is_refused(shared_data):
    scan = open_scan(shared_data / "scans/savu24737_nxtomo.nx")
    with pytest.raises(ScanError, match=r"span 144 degrees.*--center PX"):
        find_center(replace(scan, angles=scan.angles * 0.8))


@pytest.mark.parametrize(
    ("rows", "bands", "expected"),
    [
        (1, 9, [(0, 1)]),
        (2, 9, [(0, 1), (1, 2)]),
        (64, 3, [(0, 16), (24, 40), (48, 64)]),
        (10, 4, [(0, 2), (3, 5), (5, 7), (8, 10)]),
    ],
)
def test_bands_are_spread_over_the_detector(rows, bands, expected):
    assert [(band.start, band.stop) for band in spread_bands(rows, bands)] == expected


def test_the_rows_with_most_to_say_are_looked_at():
    bands = [Band(start=8 * n, stop=8 * n + 8, position=0, weight=w) for n, w in enumerate([1, 9, 3, 0, 5])]
    assert rows_to_look_at(tuple(bands)) == [slice(11, 13), slice(19, 21), slice(35, 37)]
    assert rows_to_look_at((Band(start=0, stop=1, position=0),)) == [slice(0, 1)]
