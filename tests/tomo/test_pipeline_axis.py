"""What the rotation axis changes in a whole reconstruction: half acquisition, and a tilt."""

import shutil

import h5py
import numpy as np
import pytest
from scipy.ndimage import shift

from runner.tomo.pipeline import reconstruct
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan

from .conftest import pixels


@pytest.mark.parametrize("center", [14.0, 83.0])
def test_half_acquisition_is_found_and_shows_the_whole_object(tmp_path, client, center):
    scan = tmp_path / "scan.nx"
    write_scan(scan, Simulation(rows=8, columns=98, angles=240, span=360.0, center=center, noise=False))
    outcome = reconstruct(scan, tmp_path / "volume.h5", Settings(), client)
    assert outcome.axis.position == pytest.approx(center, abs=0.3)
    size = int(np.ceil(2 * max(outcome.axis.position, 97 - outcome.axis.position))) + 1
    assert outcome.shape == (8, size, size)
    with h5py.File(outcome.volume) as file:
        parameters = file["entry/reconstruction/parameters"]
        assert parameters["half_acquisition"][()]
        assert parameters["center_confidence"].asstr()[()] in ("high", "fair", "low")
        assert "+-" in parameters["center_by_opposite_views"].asstr()[()]


def test_a_tilted_axis_is_followed_row_by_row(tmp_path, client):
    upright, tilted = tmp_path / "upright.nx", tmp_path / "tilted.nx"
    write_scan(upright, Simulation(rows=64, columns=64, angles=90, center=33.0, noise=False))
    shutil.copy(upright, tilted)
    with h5py.File(tilted, "r+") as file:
        frames = file["entry/instrument/detector/data"]
        moved = frames[:]
        for row in range(64):
            moved[:, row] = shift(moved[:, row], (0, 0.05 * (row - 31.5)), order=3, mode="nearest")
        frames[:] = moved
    settings = Settings(units="1/pixel")
    straight = reconstruct(upright, tmp_path / "upright.h5", settings, client)
    outcome = reconstruct(tilted, tmp_path / "tilted.h5", settings, client)
    assert straight.axis.slope == 0
    assert outcome.axis.slope == pytest.approx(0.05, abs=0.01)
    expected, found = pixels(straight.volume), pixels(outcome.volume)
    for row in (4, 32, 59):
        assert np.corrcoef(expected[row].ravel(), found[row].ravel())[0, 1] > 0.98
