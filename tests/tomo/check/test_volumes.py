"""The volumes of scans of which something was put right are those of good scans."""

import shutil

import h5py
import numpy as np
import pytest
import tifffile

from runner.tomo.pipeline import reconstruct
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan
from tests.tomo.conftest import pixels

DATA = "entry/instrument/detector/data"
KEYS = "entry/instrument/detector/image_key"
ANGLES = "entry/sample/rotation_angle"
INSIDE = np.hypot(*(np.mgrid[:64, :64] - 31.5)) < 28


@pytest.fixture(scope="module")
def turn(tmp_path_factory):
    """A scan of 160 projections over a whole turn, after 5 darks and 5 flats."""
    path = tmp_path_factory.mktemp("turn") / "scan.nx"
    settings = Simulation(
        rows=4, columns=64, angles=160, span=360, flats=5, darks=5, center=31.5, noise=False
    )
    write_scan(path, settings)
    return path


def volume_of(scan, folder, client, notes=None, **sources):
    outcome = reconstruct(
        scan,
        folder / f"{scan.name}.h5",
        Settings(center=31.5, units="1/pixel", **sources),
        client,
        on_note=[].append if notes is None else notes.append,
    )
    return pixels(outcome.volume)[:, INSIDE]


def nrmse(volume, reference):
    return np.linalg.norm(volume - reference) / np.linalg.norm(reference)


def changed(scan, folder, name, change):
    path = shutil.copy(scan, folder / name)
    with h5py.File(path, "a") as file:
        change(file)
    return path


def add_the_first_view_again(file):
    frames, keys, angles = (file[name][:] for name in (DATA, KEYS, ANGLES))
    for name in (DATA, KEYS, ANGLES):
        del file[name]
    file[DATA] = np.insert(frames, 170, frames[10], axis=0)
    file[KEYS] = np.insert(keys, 170, 0)
    file[ANGLES] = np.insert(angles, 170, 360.0)
    file[ANGLES].attrs["units"] = "degree"


def test_a_view_at_0_and_again_at_360_degrees_counts_once(turn, tmp_path, client):
    notes = []
    clean = volume_of(turn, tmp_path, client)
    twice = volume_of(changed(turn, tmp_path, "twice.nx", add_the_first_view_again), tmp_path, client, notes)
    assert (
        "note: projections 0 and 160 show the same, at 0 and 360 degrees; each of them counts half" in notes
    )
    assert nrmse(twice, clean) < 1e-5


def test_a_lost_frame_does_not_darken_the_volume(turn, tmp_path, client):
    def lose(file):
        file[DATA][60] = 0

    clean = volume_of(turn, tmp_path, client)
    mended = volume_of(changed(turn, tmp_path, "lost.nx", lose), tmp_path, client)
    assert mended.mean() == pytest.approx(clean.mean(), rel=1e-3)
    assert nrmse(mended, clean) < 0.02


def test_darks_with_beam_change_nothing(turn, tmp_path, client):
    def open_the_shutter(file):
        file[DATA][3] = file[DATA][7]

    clean = volume_of(turn, tmp_path, client)
    mended = volume_of(changed(turn, tmp_path, "beam.nx", open_the_shutter), tmp_path, client)
    assert nrmse(mended, clean) < 1e-6


@pytest.mark.parametrize("units", ["rad", None])
def test_radians_make_the_same_volume(turn, tmp_path, client, units):
    def in_radians(file):
        angles = np.deg2rad(file[ANGLES][:])
        file[ANGLES][...] = angles
        del file[ANGLES].attrs["units"]
        if units:
            file[ANGLES].attrs["units"] = units

    clean = volume_of(turn, tmp_path, client)
    assert nrmse(volume_of(changed(turn, tmp_path, "rad.nx", in_radians), tmp_path, client), clean) < 1e-6


def test_images_make_the_volume_of_the_frames(turn, tmp_path, client):
    with h5py.File(turn) as file:
        frames, flats = file[DATA][:], np.flatnonzero(file[KEYS][:] == 1)
    series = {"projections": range(10, 170), "before": flats[:5], "after": flats[5:], "darks": range(5)}
    for name, numbers in series.items():
        (tmp_path / name).mkdir()
        for number in numbers:
            tifffile.imwrite(tmp_path / name / f"{number}.tif", frames[number])
    parts = {"flats": "before, after", "darks": "darks", "angles": "0:360:160"}
    volume = volume_of(tmp_path / "projections", tmp_path, client, **parts)
    np.testing.assert_array_equal(volume, volume_of(turn, tmp_path, client))
