"""Corrections in whole volumes: noted, planned for, and the same however the chunks were cut."""

from dataclasses import replace

import h5py
import numpy as np
import pytest

from runner.errors import ScanError
from runner.tomo.physics import as_used, corrections_of
from runner.tomo.pipeline import plan_for, reconstruct
from runner.tomo.plan import Resources
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings

from .conftest import pixels

ALL = {
    "center": 24.5,
    "rings": "sorting:size=5",
    "zingers": 0.5,
    "delta_beta": 60.0,
    "energy": 20.0,
    "distance": 1.0,
    "unsharp": "gaussian:coeff=0.5",
}


def test_all_of_them_are_noted_and_some_rows_are_those_of_the_whole(small_scan, tmp_path, client):
    whole = reconstruct(small_scan, tmp_path / "whole.h5", Settings(**ALL), client)
    part = reconstruct(small_scan, tmp_path / "part.h5", Settings(**ALL, rows="37:70"), client)
    np.testing.assert_array_equal(pixels(part.volume), pixels(whole.volume)[37:70])
    assert np.isfinite(pixels(whole.volume)).all()
    with h5py.File(whole.volume) as file:
        parameters = file["entry/reconstruction/parameters"]
        assert parameters["rings"].asstr()[()] == "sorting:size=5"
        assert parameters["unsharp"].asstr()[()] == "gaussian:sigma=1.0,coeff=0.5"
        assert [parameters[name][()] for name in ("zingers", "delta_beta", "energy")] == [0.5, 60.0, 20.0]
        assert parameters["pixel_size"].attrs["origin"] == "scan"


@pytest.mark.parametrize(
    "setting", [{}, {"rings": "sorting"}, {"delta_beta": 60.0, "energy": 20.0, "distance": 1.0}]
)
def test_what_is_chosen_changes_the_volume_and_what_is_not_does_not(small_scan, tmp_path, client, setting):
    plain = reconstruct(small_scan, tmp_path / "plain.h5", Settings(center=24.5), client)
    other = reconstruct(small_scan, tmp_path / "other.h5", Settings(center=24.5, **setting), client)
    assert np.array_equal(pixels(plain.volume), pixels(other.volume)) == (not setting)


def test_what_phase_retrieval_lacks_is_told(small_scan):
    scan = replace(open_scan(small_scan), energy=None, distance=None)
    with pytest.raises(ScanError, match=r"needs energy, distance, which .* give --energy and --distance"):
        corrections_of(scan, Settings(delta_beta=100.0))
    told = Settings(delta_beta=100.0, energy=20.0, distance=0.1, pixel_size=2e-6)
    assert corrections_of(as_used(scan, told), told).phase.pixel_size == 2e-6


def test_the_plan_knows_the_margin(small_scan):
    resources = Resources(workers=1, memory=1 << 30, threads=1)
    scan = open_scan(small_scan)
    plain, phase = (
        plan_for(scan, Settings(**some), resources)
        for some in ({}, {"delta_beta": 100.0, "energy": 20.0, "distance": 20.0})
    )
    assert phase.work.margin > 0
    assert phase.bytes_read > plain.bytes_read
