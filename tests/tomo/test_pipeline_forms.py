"""Reconstructions into every form of a volume, with grey levels, that are stopped on the way and go on."""

from dataclasses import replace

import h5py
import numpy as np
import pytest
import tifffile
import zarr

from runner.errors import PartialError, WriteError
from runner.tomo.pipeline import plan_for, reconstruct
from runner.tomo.plan import Resources
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.volume.hdf5 import DATASET, PROCESS
from runner.tomo.volume.place import DESCRIPTION, partial_path

from .conftest import pixels

SETTINGS = Settings(center=24.5)
LEVELS = Settings(center=24.5, dtype="uint16")


def read(volume):
    if volume.suffix == ".zarr":
        return zarr.open_group(volume, mode="r")["0"][:]
    if volume.suffix == ".h5d":
        return pixels(volume / DESCRIPTION)
    if volume.suffix == "":
        return np.stack([tifffile.imread(file) for file in sorted(volume.glob("*.tif"))])
    return tifffile.imread(volume) if volume.suffix == ".tif" else pixels(volume)


@pytest.fixture(scope="module")
def values(small_scan, tmp_path_factory, client):
    """The volume in float32."""
    volume = tmp_path_factory.mktemp("values") / "volume.h5"
    return pixels(reconstruct(small_scan, volume, SETTINGS, client).volume)


@pytest.mark.parametrize("name", ["volume.h5", "volume.tif", "volume.zarr", "volume.h5d", "volume"])
def test_stopped_and_gone_on_with(small_scan, tmp_path, client, values, name):
    place = tmp_path / name
    late = []

    def seconds_left():
        return 0.0 if late else 1000.0

    def stop(progress):
        late.extend([True] * (progress.done > 0))

    with pytest.raises(PartialError):
        reconstruct(small_scan, place, LEVELS, client, on_progress=stop, seconds_left=seconds_left)
    assert not place.exists()
    assert partial_path(place).exists()
    with pytest.raises(WriteError, match=r"begun with dtype uint16 \(now uint8\)"):
        reconstruct(small_scan, place, replace(LEVELS, dtype="uint8"), client)
    outcome = reconstruct(small_scan, place, LEVELS, client)
    assert 0 < outcome.made < 100
    found = read(place)
    with h5py.File(place / DESCRIPTION if place.is_dir() else place) as file:
        process = file[PROCESS]
        low, high, step = (process["greys"].attrs[key] for key in ("low", "high", "step"))
        assert process["status"][:].all()
        assert process["parameters/grey_low"][()] == low
        assert process["parameters/grey_low"].attrs["origin"] == "greys 0.1%:99.9%"
        assert tuple(process["clipped"][:].sum(axis=0)) == outcome.clipped
    assert outcome.clipped == (np.sum(values < low), np.sum(values > high), 0)
    assert 0 < sum(outcome.clipped) < 0.05 * values.size
    np.testing.assert_allclose(found * step + low, np.clip(values, low, high), atol=0.501 * step)


def test_a_window_that_is_given_is_used(small_scan, tmp_path, client, values):
    settings = Settings(center=24.5, dtype="uint8", greys="0:0.5")
    volume = reconstruct(small_scan, tmp_path / "volume.h5", settings, client).volume
    expected = np.rint(np.clip(values, 0, 0.5) * 510)
    assert np.abs(pixels(volume) - expected).max() <= 1  # a half may be rounded either way
    assert np.mean(pixels(volume) == expected) > 0.999
    with h5py.File(volume) as file:
        attributes = file[DATASET].attrs
        assert (attributes["scale_factor"], attributes["add_offset"]) == (0.5 / 255, 0)


def test_the_plan_knows_the_type(small_scan):
    resources = Resources(workers=1, memory=1 << 30, threads=1)
    scan = open_scan(small_scan)
    sizes = {
        dtype: plan_for(scan, Settings(dtype=dtype), resources).bytes_written
        for dtype in ("float32", "float16", "uint16", "uint8")
    }
    assert sizes == {"float32": 4 * 230400, "float16": 2 * 230400, "uint16": 2 * 230400, "uint8": 230400}
