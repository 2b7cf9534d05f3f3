"""The main job through the real launcher: the same slices whoever starts the ranks, one line for errors."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from runner.tomo.simulate import Settings, write_scan
from tests.cluster.testbed import VirtualSlurm
from tests.cluster.ways import Way

pytestmark = pytest.mark.cluster

PIXELS = "/entry/data/data"


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated scan of 70 rows: chunks of 16 rows do not divide it."""
    path = tmp_path_factory.mktemp("scan") / "scan.nx"
    write_scan(path, Settings(columns=96, rows=70, angles=120))
    return path


@pytest.fixture(scope="module")
def reference(scan: Path, tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The volume from one worker, axes (slice, y, x)."""
    from distributed import Client

    from runner.tomo import settings
    from runner.tomo.pipeline import reconstruct

    volume = tmp_path_factory.mktemp("reference") / "volume.h5"
    with Client(n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        reconstruct(scan, volume, settings.Settings(), client)
    return pixels(volume)


def pixels(volume: Path) -> np.ndarray:
    with h5py.File(volume) as file:
        return file[PIXELS][()]


def test_bit_identical_whoever_starts_the_ranks(way: Way, scan: Path, reference: np.ndarray) -> None:
    result = way.run("reconstruct", scan, "volume.h5")
    assert result.code == 0, result.err
    assert "all 70 slices written and verified" in result.out
    assert np.array_equal(pixels(way.folder / "volume.h5"), reference)
    with h5py.File(way.folder / "volume.h5") as file:
        workers = set(file["entry/reconstruction/chunks/worker"][()])
    assert len(workers) == 3


@pytest.mark.slurm
def test_a_real_scan_on_four_hosts(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path, shared_data: Path
) -> None:
    scan = shared_data / "scans" / "savu24737_nxtomo.nx"
    four_hosts = Way("srun", tmp_path, environment, slurm)
    assert four_hosts.run("reconstruct", scan, "srun.h5", ranks=6).code == 0
    assert Way("local", tmp_path, environment).run("reconstruct", scan, "local.h5", ranks=1).code == 0
    assert np.array_equal(pixels(tmp_path / "srun.h5"), pixels(tmp_path / "local.h5"))
    with h5py.File(tmp_path / "srun.h5") as file:
        workers = {name.decode().split(":")[1] for name in file["entry/reconstruction/chunks/worker"]}
        center = float(file["entry/reconstruction/parameters/center"][()])
    assert len(workers) == 4  # chunks on every host
    assert 85.5 < center < 86.25


def test_a_worker_killed_in_the_middle_costs_nothing(local: Way, scan: Path, reference: np.ndarray) -> None:
    with local.start("reconstruct", scan, "volume.h5", "--method", "fourier", ranks=2) as command:
        end = time.monotonic() + 30
        while "ready in" not in command.stderr:
            assert time.monotonic() < end, command.stderr
            time.sleep(0.01)
        victims = [pid for pid in command.processes() if name_of(pid).startswith("runner worker-")]
        os.kill(victims[0], signal.SIGKILL)
        finished = command.wait(timeout=60)
    assert finished.returncode == 0, finished.stderr
    assert "killed by signal 9" in finished.stderr
    assert np.array_equal(pixels(local.folder / "volume.h5"), reference)
    local.check_nothing_is_left()


def test_plan_prints_and_stops(local: Way, scan: Path) -> None:
    result = local.run("--quiet", "reconstruct", scan, "volume.h5", "--plan", ranks=2)
    assert result.code == 0, result.err
    for word in ("chunk", "memory", "read", "written"):
        assert word in result.out
    assert not list(local.folder.glob("volume*"))


def test_several_scans_on_one_cluster(local: Way, scan: Path, reference: np.ndarray) -> None:
    (local.folder / "scans.csv").write_text(f"scan,volume\n{scan},one.h5\nlate.nx,two.h5\n")
    first = local.run("--quiet", "reconstruct", "scans.csv", ranks=2)
    assert first.code == 70, first.err
    assert "late.nx: no such file" in first.err
    assert "1 of 2 scans are done, 1 failed" in first.err.splitlines()[-1]
    shutil.copyfile(scan, local.folder / "late.nx")
    again = local.run("--quiet", "reconstruct", "scans.csv", "--no-report", ranks=2)
    assert again.code == 0, again.err
    assert [" ".join(line.split()[2:4]) for line in again.out.splitlines()[1:]] == [
        "already there",
        "done 70",
    ]
    for name in ("one.h5", "two.h5"):
        assert np.array_equal(pixels(local.folder / name), reference)
    assert sorted(path.name for path in local.folder.glob("*.html")) == ["one.h5.report.html"]


def not_hdf5(scan: Path) -> None:
    scan.write_text("angle,counts\n")


def truncated(scan: Path) -> None:
    size = scan.stat().st_size
    with scan.open("r+b") as file:
        file.truncate(size // 2)


def without(key: int) -> Callable[[Path], None]:
    def drop(scan: Path) -> None:
        with h5py.File(scan, "r+") as file:
            keys = find(file, "image_key")
            keys[keys[()] == key] = 3

    return drop


def fewer_angles(scan: Path) -> None:
    with h5py.File(scan, "r+") as file:
        angles = find(file, "rotation_angle")
        values, parent = angles[:-1], angles.parent
        units = angles.attrs["units"]
        del parent["rotation_angle"]
        parent["rotation_angle"] = values
        parent["rotation_angle"].attrs["units"] = units


def missing_external_file(scan: Path) -> None:
    with h5py.File(scan, "r+") as file:
        data = find(file, "image_key").parent
        del data["data"]
        data["data"] = h5py.ExternalLink("never_came.h5", "/data")


def find(file: h5py.File, name: str) -> h5py.Dataset:
    found: list[h5py.Dataset] = []
    file.visititems(lambda path, item: found.append(item) if path.endswith(f"/{name}") else None)
    return found[0]


@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        (not_hdf5, 65, "not an HDF5 file"),
        (truncated, 65, "truncated"),
        (without(0), 65, "no projections"),
        (without(1), 65, "no flats"),
        (fewer_angles, 65, "angles"),
        (missing_external_file, 66, "never_came.h5"),
        (Path.unlink, 66, "scan.nx"),
    ],
)
def test_a_bad_scan_is_one_line_and_nothing_written(
    local: Way, scan: Path, spoil: Callable[[Path], None], code: int, said: str
) -> None:
    bad = local.folder / "scan.nx"
    bad.write_bytes(scan.read_bytes())
    spoil(bad)
    check_refused(local, ["reconstruct", str(bad), "volume.h5"], code, said)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere/volume.h5"], 73, "/nowhere"),
        (["/proc/volume.h5"], 73, "/proc"),
        (["volume.h5", "--rows", "60:90"], 64, "60:90"),
        (["volume.h5", "--config", "recon.toml"], 64, "did you mean window?"),
        (["volume.h5", "--center", "500"], 64, "outside of the detector"),
    ],
)
def test_a_wrong_request_is_one_line_and_nothing_written(
    local: Way, scan: Path, words: list[str], code: int, said: str
) -> None:
    (local.folder / "recon.toml").write_text('windwo = "hann"\n')
    check_refused(local, ["reconstruct", str(scan), *words], code, said)


def check_refused(way: Way, words: list[str], code: int, said: str) -> None:
    result = way.run("--quiet", *words, ranks=1)
    assert result.code == code, result.err
    lines = result.said.splitlines()
    assert len(lines) == 1, result.err
    assert said in lines[0]
    assert not list(way.folder.glob("**/volume*"))


def test_an_existing_volume_is_kept(local: Way, scan: Path) -> None:
    volume = local.folder / "volume.h5"
    volume.write_bytes(b"precious")
    result = local.run("--quiet", "reconstruct", scan, "volume.h5", ranks=1)
    assert result.code == 73
    assert "--overwrite" in result.err
    assert volume.read_bytes() == b"precious"
    result = local.run("--quiet", "reconstruct", scan, "volume.h5", "--overwrite", ranks=1)
    assert result.code == 0, result.err
    assert h5py.is_hdf5(volume)


def name_of(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""
