"""Parts of the slices: what is cut out is what the whole volume has there, and lies where it did."""

import json
import math

import h5py
import numpy as np
import pytest
import tifffile
import zarr

from runner.errors import PartialError, UsageError
from runner.tomo.pipeline import plan_for, reconstruct
from runner.tomo.plan import Resources, describe
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan

from .conftest import pixels

RESOURCES = Resources(workers=2, memory=1 << 30, threads=1)


@pytest.fixture(scope="module")
def whole(small_scan, tmp_path_factory, client):
    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    reconstruct(small_scan, path, Settings(center=24.5), client)
    return path


def axes(path):
    with h5py.File(path) as file:
        return [file[f"entry/data/{name}"][:] for name in "zyx"]


@pytest.mark.parametrize(
    ("x", "y", "part"),
    [
        ("7:20", "30:47", np.s_[10:37, 30:47, 7:20]),
        ("41:", None, np.s_[10:37, :, 41:]),
        (None, ":3", np.s_[10:37, :3, :]),
    ],
)
def test_a_part_is_that_of_the_whole_volume(small_scan, whole, tmp_path, client, x, y, part):
    settings = Settings(center=24.5, rows="10:37", x=x, y=y)
    outcome = reconstruct(small_scan, tmp_path / "part.h5", settings, client)
    expected = pixels(whole)[part]
    assert outcome.shape == expected.shape
    np.testing.assert_array_equal(pixels(outcome.volume), expected)
    for found, all_, own in zip(axes(outcome.volume), axes(whole), part, strict=True):
        np.testing.assert_allclose(found, all_[own], rtol=1e-12)


def test_every_form_says_where_a_part_lies(small_scan, whole, tmp_path, client):
    settings = Settings(center=24.5, rows="10:12", x="7:20", y="30:47")
    for name in ("part.zarr", "part.tif"):
        reconstruct(small_scan, tmp_path / name, settings, client)
    metres = [positions[first] for positions, first in zip(axes(whole), (10, 30, 7), strict=True)]
    (scales,) = zarr.open_group(tmp_path / "part.zarr").attrs["ome"]["multiscales"]
    (_, move) = scales["datasets"][0]["coordinateTransformations"]
    assert move["translation"] == pytest.approx(metres)
    with tifffile.TiffFile(tmp_path / "part.tif") as file:
        assert json.loads(file.pages.first.description)["origin"] == [10, 30 - 23.5, 7 - 23.5]


def test_grey_levels_of_a_part_are_those_inside_the_whole_slices_circle(small_scan, whole, tmp_path, client):
    settings = Settings(
        center=24.5,
        dtype="uint16",
        greys="0%:100%",
        rows="40:44",
        x="0:24",
        y="0:24",
        mask=True,
        mask_value=-100.0,  # must not count
    )
    reconstruct(small_scan, tmp_path / "part.h5", settings, client)
    with h5py.File(tmp_path / "part.h5") as file:
        greys = dict(file["entry/reconstruction/greys"].attrs)
    position = np.arange(24) - 23.5
    inside = np.hypot(position, position[:, np.newaxis]) <= 24
    values = pixels(whole)[40:44, :24, :24][:, inside]
    assert greys["low"] == pytest.approx(values.min(), abs=0.02 * float(np.ptp(values)))
    assert greys["high"] == pytest.approx(values.max(), abs=0.02 * float(np.ptp(values)))


def test_a_part_that_is_not_there_is_refused_before_any_work(small_scan):
    for part, said in (({"x": "40:49"}, r"x 40:49 .*within 0:48"), ({"y": "48:"}, "y 48:48")):
        with pytest.raises(UsageError, match=said):
            plan_for(open_scan(small_scan), Settings(center=24.5, **part), RESOURCES)


def test_a_part_may_lie_where_only_a_half_acquisition_sees(tmp_path, client):
    scan = tmp_path / "half.nx"
    write_scan(scan, Simulation(rows=2, columns=40, angles=60, center=32.0, span=360.0, noise=False))
    plan_for(open_scan(scan), Settings(x="50:60"), RESOURCES)  # the axis is not known yet
    for settings in (Settings(center=32.0), Settings(center=32.0, x="50:60", y="9:31")):
        reconstruct(scan, tmp_path / f"{settings.x}.h5", settings, client)
    expected = pixels(tmp_path / "None.h5")
    assert expected.shape == (2, 65, 65)
    np.testing.assert_array_equal(pixels(tmp_path / "(50, 60).h5"), expected[:, 9:31, 50:60])


def test_the_plan_follows_the_part(small_scan):
    scan = open_scan(small_scan)
    whole, part = (
        plan_for(scan, Settings(center=24.5, **some), RESOURCES) for some in ({}, {"x": "0:12", "y": "4:28"})
    )
    assert part.bytes_written * 8 == whole.bytes_written
    assert "of 12 x 24 (of 48 x 48) pixels" in describe(part)


@pytest.mark.parametrize("value", [0.0, -0.3, math.nan])
def test_what_is_outside_of_the_circle_is_what_was_asked_for(small_scan, whole, tmp_path, client, value):
    settings = Settings(center=24.5, rows="40:44", mask=True, mask_value=value, x="3:48")
    outcome = reconstruct(small_scan, tmp_path / "masked.h5", settings, client)
    position = np.arange(48) - 23.5
    inside = np.hypot(position, position[:, np.newaxis]) <= 24
    expected = np.where(inside, pixels(whole)[40:44], np.float32(value))[:, :, 3:]
    np.testing.assert_array_equal(pixels(outcome.volume), expected)
    assert (~inside).sum() > 400


def test_a_volume_with_a_mask_of_nan_is_gone_on_with(small_scan, tmp_path, client):
    settings = Settings(center=24.5, mask=True, mask_value=math.nan)
    left = 1e9

    def stop(progress):
        nonlocal left
        left = 0.0 if progress.done else left

    volume = tmp_path / "volume.h5"
    with pytest.raises(PartialError):
        reconstruct(small_scan, volume, settings, client, on_progress=stop, seconds_left=lambda: left)
    outcome = reconstruct(small_scan, volume, settings, client)
    assert 0 < outcome.made < 100


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mask_value": math.inf}, "give a number, or nan"),
        ({"mask_value": math.nan, "mask": True, "dtype": "uint8"}, "float16"),
        ({"mask_value": 1.0}, "say --mask as well"),
        ({"x": "7"}, "x '7' is no range"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, said):
    with pytest.raises(UsageError, match=said):
        Settings(**wrong)
