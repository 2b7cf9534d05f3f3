"""A small volume's description, and where it is to be."""

import pytest

from runner.tomo.volume.content import Content
from runner.tomo.volume.provenance import Parameter, collect


@pytest.fixture
def content(tmp_path):
    scan = tmp_path / "scan.nx"
    scan.write_bytes(b"x" * 123)
    parameters = [
        Parameter(name="center", value=31.25, origin="command line"),
        Parameter(name="window", value="hann", origin="recon.toml"),
        Parameter(name="mask", value=False, origin="default"),
    ]
    return Content(
        title="a tooth",
        first_row=10,
        shape=(6, 5, 4),
        units="1/cm",
        pixel_size=2e-6,
        provenance=collect(scan, ["reconstruct", "scan.nx"], parameters),
    )


@pytest.fixture
def volume(tmp_path):
    return tmp_path / "volume.h5"
