"""Volumes of larger pixels: the same grey values, at the same place."""

import shutil

import h5py
import numpy as np
import pytest

from runner.errors import UsageError
from runner.tomo.calibrate import calibrate
from runner.tomo.pipeline import plan_for, reconstruct
from runner.tomo.plan import Resources, describe
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan

from .conftest import pixels


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    """34 rows of 203 columns: some are left over."""
    path = tmp_path_factory.mktemp("fine") / "fine.nx"
    write_scan(path, Simulation(rows=34, columns=203, angles=160, center=104.3, noise=False))
    return path


@pytest.fixture(scope="module")
def volumes(scan, tmp_path_factory, client):
    folder = tmp_path_factory.mktemp("volumes")
    for factor in (1, 2, 4):
        reconstruct(scan, folder / f"{factor}.h5", Settings(center=104.3, bin=factor), client)
    return folder


@pytest.fixture(scope="module")
def cylinder(scan, tmp_path_factory):
    """A scan of 0.02 per pixel within 70 pixels of a line that is 9 to the right of the axis at 0 degrees."""
    path = tmp_path_factory.mktemp("cylinder") / "cylinder.nx"
    shutil.copyfile(scan, path)
    with h5py.File(path, "r+") as file:
        detector = file["entry/instrument/detector"]
        keys, frames = detector["image_key"][:], detector["data"]
        flat, dark = frames[keys == 1].mean(axis=0), frames[keys == 2].mean(axis=0)
        angles = np.deg2rad(np.arange(160) * 180 / 160)
        for number, angle in zip(np.flatnonzero(keys == 0), angles, strict=True):
            fine = np.arange(203)[:, np.newaxis] + (np.arange(16) - 7.5) / 16 - 104.3 - 9 * np.cos(angle)
            chord = 2 * np.sqrt(np.maximum(70**2 - fine**2, 0)).mean(axis=1)
            frames[number] = dark + (flat - dark) * np.exp(-0.02 * chord)
    return path


@pytest.mark.parametrize(("factor", "shape"), [(1, (34, 203, 203)), (2, (17, 101, 101)), (4, (8, 50, 50))])
def test_the_grey_value_of_what_is_homogeneous_stays(cylinder, tmp_path, client, factor, shape):
    settings = Settings(center=104.3, bin=factor, units="1/pixel")
    volume = pixels(reconstruct(cylinder, tmp_path / "volume.h5", settings, client).volume)
    assert volume.shape == shape
    position = factor * (np.arange(shape[1]) - (shape[1] - 1) / 2)
    inside = np.hypot(position - 9, position[:, np.newaxis]) < 55
    assert volume[:, inside].mean(axis=1, dtype=float) == pytest.approx(0.02 * factor, rel=1e-3)
    weights = np.clip(volume[3], 0.005 * factor, None) - 0.005 * factor
    assert np.average(position, weights=weights.sum(axis=0)) == pytest.approx(9, abs=0.15)
    assert np.average(position, weights=weights.sum(axis=1)) == pytest.approx(0, abs=0.15)


@pytest.mark.parametrize("factor", [2, 4])
def test_a_binned_volume_lies_over_the_fine_one(volumes, factor):
    (coarse, coarse_axes), (fine, fine_axes) = (read(volumes / f"{number}.h5") for number in (factor, 1))
    pixel = fine_axes[2][1] - fine_axes[2][0]
    assert coarse_axes[2][1] - coarse_axes[2][0] == pytest.approx(factor * pixel)
    fine = fine[: factor * len(coarse)]  # the others are not in the coarse one
    for axis, (one, other) in enumerate(zip(coarse_axes, fine_axes, strict=True)):
        others = tuple({0, 1, 2} - {axis})
        middle = np.average(one, weights=coarse.sum(axis=others))
        expected = np.average(other[: fine.shape[axis]], weights=fine.sum(axis=others))
        assert middle == pytest.approx(expected, abs=0.3 * pixel)


def read(path):
    with h5py.File(path) as file:
        data = file["entry/data"]
        return np.clip(data["data"][:], 0, None).astype(float), [data[name][:] for name in "zyx"]


def test_all_is_counted_in_pixels_of_the_detector(scan, volumes, tmp_path, client):
    settings = Settings(center=104.3, bin=2, rows="9:25", x="21:60", y=":80")
    said = []
    outcome = reconstruct(scan, tmp_path / "part.h5", settings, client, on_note=said.append)
    np.testing.assert_array_equal(pixels(outcome.volume), pixels(volumes / "2.h5")[5:12, :40, 11:30])
    assert "bin 2 leaves out 1 columns at the detector's end" in said
    with h5py.File(outcome.volume) as file:
        parameters = file["entry/reconstruction/parameters"]
        assert parameters["center"][()] == 104.3
        assert parameters["bin"][()] == 2
        assert [parameters[name].asstr()[()] for name in ("rows", "x", "y")] == ["10:24", "22:60", "0:80"]
        fine = h5py.File(volumes / "2.h5")["entry/data"]
        np.testing.assert_allclose(file["entry/data/x"][:], fine["x"][11:30])
        np.testing.assert_allclose(file["entry/data/z"][:], fine["z"][5:12])


def test_the_axis_is_found_in_columns_of_the_detector(scan, tmp_path, client):
    outcome = reconstruct(scan, tmp_path / "found.h5", Settings(bin=4), client)
    assert outcome.axis.position == pytest.approx(104.3, abs=0.1)


def test_the_plan_reads_all_and_makes_less(scan, tmp_path, client):
    resources = Resources(workers=1, memory=1 << 30, threads=1)
    opened = open_scan(scan)
    fine, coarse = (plan_for(opened, Settings(center=104.3, bin=factor), resources) for factor in (1, 2))
    assert coarse.bytes_read == pytest.approx(fine.bytes_read, rel=0.01)
    assert coarse.bytes_written == 17 * 101 * 101 * 4
    assert "101 columns, 2 x 2 pixels of the detector each" in describe(coarse)
    plan, _ = calibrate(opened, tmp_path / "volume.h5", Settings(center=104.3, bin=2), client)
    assert plan.work == coarse.work


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rows": "9:10"}, "rows 9:10 hold no whole pixel of 4 x 4"),
        ({"center": 1.0}, r"center 1 .*within 1.5 \.\. 197.5"),
    ],
)
def test_what_does_not_go_is_said_in_pixels_of_the_detector(scan, tmp_path, client, wrong, said):
    with pytest.raises(UsageError, match=said):
        reconstruct(scan, tmp_path / "v.h5", Settings(bin=4, **({"center": 104.3} | wrong)), client)


@pytest.mark.parametrize("factor", [0, 3, 2.0, True, "2"])
def test_only_powers_of_two_are_allowed(factor):
    with pytest.raises(UsageError, match="choose one of 1, 2, 4, 8"):
        Settings(bin=factor)
