"""Whole volumes by the engine of the GPU, its kernels compiled for the CPU; the worker is a thread."""

from dataclasses import replace

import numpy as np
import pytest
from distributed import Client

from runner.tomo import chunk as chunks
from runner.tomo.correct.corrections import NO_CORRECTIONS
from runner.tomo.correct.flatfield import FlatField, corrected_sinograms, read_counts
from runner.tomo.pipeline import reconstruct
from runner.tomo.plan import Chunk
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan
from tests.tomo.reconstruct.gpu.stand_in import StandIn

from .conftest import pixels

CENTER = 24.5


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    """37 rows of 48 columns and 41 angles, counts of 16 bits, with noise and a dead pixel.

    No angle is 0: points would lie just between cells, on which the two engines do not agree to 1e-6.
    """
    path = tmp_path_factory.mktemp("scan") / "scan.nx"
    write_scan(path, Simulation(rows=37, columns=48, angles=41, start=0.4, center=CENTER))
    return path


@pytest.fixture
def crossed(tmp_path_factory, monkeypatch):
    """Let there be a GPU; yields the types of pixels that crossed to it."""
    device, types = StandIn(tmp_path_factory.getbasetemp()), set()
    plain = device.upload
    monkeypatch.setattr(
        device, "upload", lambda host, array: types.add(host.dtype.name) or plain(host, array)
    )
    monkeypatch.setattr("runner.tomo.reconstruct.gpu.engine.CudaDevice", lambda: device)
    chunks._reconstructor.cache_clear()
    yield types
    chunks._reconstructor.cache_clear()


@pytest.fixture(scope="module")
def threads():
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        yield client


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"uint16"}),
        ({"flats_by": "mean", "mask": True, "padding": "zero"}, {"uint16"}),
        ({"bin": 2}, {"float32"}),
        ({"rings": "sorting:size=5"}, {"float32"}),
    ],
)
def test_the_volume_is_the_cpus(scan, tmp_path, threads, crossed, settings, expected):
    made = {
        device: reconstruct(
            scan, tmp_path / f"{device}.h5", Settings(center=CENTER, device=device, **settings), threads
        )
        for device in ("cpu", "gpu")
    }
    volume, right = pixels(made["gpu"].volume), pixels(made["cpu"].volume)
    assert crossed == expected
    assert np.linalg.norm(volume - right) < 1e-6 * np.linalg.norm(right)


def recipe_for(path, corrections=NO_CORRECTIONS, device="gpu", slope=0.0, **scan):
    opened = open_scan(path)
    setup = chunks.Setup(
        angles=tuple(opened.angles.tolist()),
        columns=opened.columns,
        center=CENTER,
        method="fourier",
        window="ram-lak",
        padding="edge",
        mask=False,
        device=device,
    )
    return chunks.Recipe(
        scan=replace(opened, **scan), setup=setup, scale=1.0, corrections=corrections, slope=slope
    )


@pytest.mark.parametrize(
    ("given", "suffice"),
    [
        ({}, True),
        ({"corrections": replace(NO_CORRECTIONS, flat_field=FlatField(by="mean", ring_current=True))}, True),
        ({"corrections": replace(NO_CORRECTIONS, air=5)}, False),
        ({"corrections": replace(NO_CORRECTIONS, zingers=0.2)}, False),
        ({"slope": 1e-3}, False),
        ({"device": "cpu"}, False),
        ({"dtype": np.dtype(">u2")}, False),
        ({"dtype": np.dtype(np.float64)}, False),
    ],
)
def test_when_counts_suffice(scan, given, suffice):
    assert chunks.counts_suffice(recipe_for(scan, **given)) == suffice


def test_the_sinogram_that_is_shown_is_the_one_that_the_cpu_would_have_made(scan):
    opened, chunk = open_scan(scan), Chunk(first_row=16, end_row=32)
    counts, sinograms = (read(opened, slice(16, 32)) for read in (read_counts, corrected_sinograms))
    row, shown = chunks._shown(20, chunk, counts)
    assert row == 20
    np.testing.assert_array_equal(shown, chunks._shown(20, chunk, sinograms)[1])
    assert chunks._shown(32, chunk, counts) is None
