"""A scan that is good, to be spoilt."""

import shutil

import pytest

from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A scan of 5 darks, 5 flats, 40 projections over 180 degrees, and 5 flats, 12 x 48 pixels."""
    path = tmp_path_factory.mktemp("good") / "scan.nx"
    write_scan(path, Simulation(rows=12, columns=48, angles=40, flats=5, darks=5, center=24.5, noise=False))
    return path


@pytest.fixture
def scan(good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return shutil.copy(good, "scan.nx")
