"""A sweep's labels are the axes that were used."""

import h5py
import numpy as np
import pytest

from runner.errors import UsageError, WriteError
from runner.tomo.axis.sweep import make_sweep, parse_sweep, write_sweep
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.scan import open_scan


@pytest.mark.parametrize(
    ("text", "centers"),
    [
        ("85:86:0.5", (85, 85.5, 86)),
        ("85:86.2:0.5", (85, 85.5, 86)),
        ("10:9:-0.5", (10, 9.5, 9)),
        ("1:1.3:0.1", (1, 1.1, 1.2, 1.3)),
        ("7:7:1", (7,)),
    ],
)
def test_a_sweep_is_read(text, centers):
    assert parse_sweep(text) == centers


@pytest.mark.parametrize("text", ["", "5", "1:2", "1:2:0", "2:1:0.5", "a:b:c", "0:1e9:1", "1:nan:1"])
def test_what_is_no_sweep_is_refused(text):
    with pytest.raises(UsageError, match="write A:B:STEP"):
        parse_sweep(text)


def test_each_slice_is_the_one_about_its_label(small_scan, tmp_path):
    scan = open_scan(small_scan)
    sweep = make_sweep(scan, 50, (24.0, 24.5, 25.25))
    sinograms = corrected_sinograms(scan, slice(50, 51))
    for center, image in zip(sweep.centers, sweep.slices, strict=True):
        with Reconstructor(angles=scan.angles, columns=48, center=center) as reconstruct:
            np.testing.assert_array_equal(reconstruct(sinograms)[0], image)
    write_sweep(tmp_path / "sweep.h5", sweep)
    with h5py.File(tmp_path / "sweep.h5") as file:
        np.testing.assert_array_equal(file["entry/data/data"], sweep.slices)
        np.testing.assert_array_equal(file["entry/data/center"], [24, 24.5, 25.25])


def test_places_that_are_not_there(small_scan, tmp_path):
    scan = open_scan(small_scan)
    with pytest.raises(UsageError, match="row 100 is not on the detector"):
        make_sweep(scan, 100, (24.0,))
    with pytest.raises(UsageError, match="outside of the detector"):
        make_sweep(scan, 50, (90.0,))
    with pytest.raises(WriteError):
        write_sweep(tmp_path / "none" / "sweep.h5", make_sweep(scan, 50, (24.0,)))
