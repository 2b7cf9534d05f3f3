"""Volumes made step by step: noted, planned for, and the same however they were cut."""

import h5py
import numpy as np
import pytest

from runner.errors import UsageError
from runner.tomo.phantom import voxelise
from runner.tomo.pipeline import plan_for, reconstruct
from runner.tomo.plan import Resources
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan

from .conftest import pixels


@pytest.mark.parametrize("method", ["sirt", "fista", "cgls"])
def test_slices_do_not_depend_on_rows_or_parts_and_say_how_they_came_about(
    small_scan, tmp_path, client, method
):
    settings = {"center": 24.5, "method": method, "iterations": 5}
    whole = reconstruct(small_scan, tmp_path / "whole.h5", Settings(**settings), client)
    part = reconstruct(
        small_scan, tmp_path / "part.h5", Settings(**settings, rows="37:70", x="11:40"), client
    )
    np.testing.assert_array_equal(pixels(part.volume), pixels(whole.volume)[37:70, :, 11:40])
    with h5py.File(whole.volume) as file:
        process = file["entry/reconstruction"]
        assert process["parameters/iterations"][()] == 5
        assert process["parameters/method"].asstr()[()] == method
        misfit = process["chunks/misfit"][:]
        assert misfit.shape == (len(process["chunks/rows"]), 5)
        assert (np.diff(misfit) < 0).all()
        assert (misfit[:, -1] < 0.3).all()


def test_every_part_of_the_phantom_has_its_attenuation(tmp_path, client):
    scan = tmp_path / "scan.nx"
    truth = write_scan(scan, Simulation(rows=16, columns=96, angles=60, noise=False))
    settings = Settings(center=truth.detector.center, method="fista", nonnegative=True)
    volume = pixels(reconstruct(scan, tmp_path / "volume.h5", settings, client).volume)
    plain = pixels(reconstruct(scan, tmp_path / "f.h5", Settings(center=settings.center), client).volume)
    right = voxelise(truth.ellipsoids, slices=16, size=96, pixel=truth.detector.pixel)
    assert volume.min() == 0
    inside = right > 0
    assert volume[inside].mean() == pytest.approx(right[inside].mean(), rel=1e-2)
    wrong, before = (np.linalg.norm(found - right) for found in (volume, plain))
    assert wrong < 0.8 * before


def test_the_plan_counts_what_the_steps_hold(small_scan):
    scan, resources = open_scan(small_scan), Resources(workers=1, memory=1 << 30, threads=1)
    plain, steps = (
        plan_for(scan, Settings(center=24.5, method=method), resources) for method in ("fourier", "cgls")
    )
    assert steps.buffers > 1.5 * plain.buffers
    assert steps.memory - plain.memory == steps.buffers - plain.buffers


def test_room_is_planned_for_noted_and_the_same_for_a_part(small_scan, tmp_path, client):
    settings = {"center": 24.5, "method": "cgls", "iterations": 3, "rows": "40:48"}
    told = []
    whole = reconstruct(
        small_scan, tmp_path / "whole.h5", Settings(**settings, room=1.5), client, on_note=told.append
    )
    part = reconstruct(small_scan, tmp_path / "part.h5", Settings(**settings, room=1.5, x="11:40"), client)
    np.testing.assert_array_equal(pixels(part.volume), pixels(whole.volume)[:, :, 11:40])
    plain = reconstruct(small_scan, tmp_path / "plain.h5", Settings(**settings), client, on_note=told.append)
    assert pixels(plain.volume).shape == pixels(whole.volume).shape
    assert not (pixels(plain.volume) == pixels(whole.volume)).all()
    with h5py.File(whole.volume) as file:
        assert file["entry/reconstruction/parameters/room"][()] == 1.5
    assert not any("--room" in line for line in told)  # the object lies in air
    scan, resources = open_scan(small_scan), Resources(workers=1, memory=1 << 30, threads=1)
    plans = [plan_for(scan, Settings(center=24.5, method="cgls", room=room), resources) for room in (1, 2)]
    assert plans[1].buffers > 1.5 * plans[0].buffers


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"iterations": 10}, "fourier takes no iterations"),
        ({"method": "fbp", "nonnegative": True}, "say --method sirt or fista or cgls"),
        ({"method": "cgls", "nonnegative": True}, "say --method sirt or fista"),
        ({"method": "sirt", "iterations": 0}, "from 1 to 10000"),
        ({"method": "sirt", "iterations": 2.5}, "from 1 to 10000"),
        ({"method": "cgls", "window": "hann", "origins": {"window": "recon.toml"}}, "leave window out"),
        ({"method": "cgls", "device": "gpu"}, "does not run on a GPU"),
        ({"room": 1.5}, "fourier has no use for room"),
        ({"method": "cgls", "room": 0.5}, "from 1 to 4 fields of view"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, said):
    with pytest.raises(UsageError, match=said):
        Settings(**wrong)
