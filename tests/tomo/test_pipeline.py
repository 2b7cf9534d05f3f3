import math
import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from runner.errors import LostError, PartialError, RunnerError, ScanError, UsageError, WriteError
from runner.tomo.chunk import Job, Setup, process_chunk
from runner.tomo.pipeline import plan_for, reconstruct, unit_scale
from runner.tomo.plan import Resources, cut
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan
from runner.tomo.volume.forms import create_volume
from runner.tomo.volume.hdf5 import DATASET
from runner.tomo.volume.place import partial_path

from .conftest import content_for, local_client, pixels

SETTINGS = Settings(center=24.5)
UNFINISHED = [".volume.h5.partial.spare", "volume.h5.partial"]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def by_hand(scan_path, volume, height, *, method="fourier", threads=1, center=24.5):
    """Make a volume chunk by chunk in this process, the last chunk first."""
    scan = open_scan(scan_path)
    setup = Setup(
        angles=tuple(scan.angles.tolist()),
        columns=scan.columns,
        center=center,
        method=method,
        window="ram-lak",
        padding="edge",
        mask=False,
    )
    scale, _ = unit_scale(scan.pixel_size, Settings())
    job = Job(scan=scan, setup=setup, target=create_volume(volume, content_for(scan)), scale=scale)
    results = [process_chunk(job, chunk, threads=threads) for chunk in reversed(cut(0, scan.rows, height))]
    return pixels(job.target.path), results


@pytest.fixture(scope="module")
def expected(small_scan, tmp_path_factory):
    volume, _ = by_hand(small_scan, tmp_path_factory.mktemp("expected") / "volume.h5", 112)
    return volume


@pytest.mark.parametrize("height", range(16, 112, 16))
def test_a_volume_does_not_depend_on_the_chunks(small_scan, tmp_path, expected, height):
    volume, results = by_hand(small_scan, tmp_path / "volume.h5", height, threads=1 + height % 3)
    np.testing.assert_array_equal(volume, expected)
    for result in results:
        assert set(result.seconds) == {"read", "reconstruct", "write"}


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_volume_does_not_depend_on_the_workers(small_scan, tmp_path, expected, workers):
    with local_client(workers) as client:
        outcome = reconstruct(small_scan, tmp_path / "volume.h5", SETTINGS, client)
    np.testing.assert_array_equal(pixels(outcome.volume), expected)
    assert outcome.shape == (100, 48, 48)
    assert outcome.units == "1/cm"
    assert names(tmp_path) == ["volume.h5"]


def test_some_rows_are_those_of_the_whole(small_scan, tmp_path, expected, client):
    settings = Settings(center=24.5, rows="37:70")
    outcome = reconstruct(small_scan, tmp_path / "volume.h5", settings, client)
    np.testing.assert_array_equal(pixels(outcome.volume), expected[37:70])


def test_a_killed_worker_costs_nothing_but_time(tmp_path):
    scan = tmp_path / "scan.nx"
    # more chunks than two workers can have at once: some are left when the first have been heard of
    write_scan(scan, Simulation(rows=128, columns=128, angles=100, center=64, noise=False))
    clean, _ = by_hand(scan, tmp_path / "clean.h5", 128, method="fbp", center=64)
    with local_client(2) as client:
        victim = min(client.run(os.getpid).values())
        killed = []

        def kill_once(progress):
            if not killed and 0 < progress.done < progress.total:
                os.kill(victim, signal.SIGKILL)
                killed.append(progress.done)

        settings = Settings(center=64, method="fbp")
        outcome = reconstruct(scan, tmp_path / "volume.h5", settings, client, on_progress=kill_once)
        assert killed
        assert victim not in client.run(os.getpid).values()
    np.testing.assert_array_equal(pixels(outcome.volume), clean)


@pytest.fixture
def damaged_scan(small_scan, tmp_path):
    """The small scan in compressed chunks of 16 rows, of which one is damaged at rows 32:48."""
    path = tmp_path / "damaged.nx"
    path.write_bytes(small_scan.read_bytes())
    with h5py.File(path, "r+") as file:
        name = "entry/instrument/detector/data"
        frames = file[name][:]
        del file[name]
        data = file.create_dataset(name, data=frames, chunks=(1, 16, 48), compression="gzip")
        data.id.write_direct_chunk((60, 32, 0), b"not a gzip stream")
    return path


def test_what_cannot_be_made_is_named_and_the_rest_is_kept(damaged_scan, tmp_path, expected, client):
    volume = tmp_path / "volume.h5"
    with pytest.raises(LostError, match=r"16 of 100 slices could not be made: rows 32:48 \(.*read"):
        reconstruct(damaged_scan, volume, SETTINGS, client)
    assert not volume.exists()
    kept = pixels(partial_path(volume))
    assert np.isnan(kept[32:48]).all()
    np.testing.assert_array_equal(np.delete(kept, slice(32, 48), 0), np.delete(expected, slice(32, 48), 0))


def test_when_the_time_is_over_what_was_made_is_kept(small_scan, tmp_path, expected, client):
    def look(progress):
        nonlocal left
        left = 0.0 if progress.done else math.inf  # the last chunk has not been handed out

    left = math.inf
    volume = tmp_path / "volume.h5"
    with pytest.raises(PartialError) as stopped:
        reconstruct(small_scan, volume, SETTINGS, client, on_progress=look, seconds_left=lambda: left)
    assert names(tmp_path) == UNFINISHED
    with h5py.File(partial_path(volume)) as file:
        made = file["entry/reconstruction/status"][:] == 1
        kept = file[DATASET][:]
    with h5py.File(partial_path(volume)) as file:  # workers go on with what they have begun
        made_since = file["entry/reconstruction/status"][:] == 1
    match = re.fullmatch(
        r"the time is over: (\d+) of 100 slices were made, rows ([\d:, ]+) are missing; "
        r".*volume.h5.partial holds what was made: the same command goes on with it",
        str(stopped.value),
    )
    missing = {row for span in match[2].split(", ") for row in range(*map(int, span.split(":")))}
    assert 16 <= int(match[1]) == 100 - len(missing) < 100
    told_as_made = np.array([row not in missing for row in range(100)])
    assert made[told_as_made].all()  # a chunk that was given up may have ended all the same
    np.testing.assert_array_equal(kept[made], expected[made])
    # of those that were given up, each worker's may be half written
    assert np.count_nonzero(kept[~made_since].any(axis=(1, 2))) <= 2 * 16


def test_an_interrupted_run_leaves_nothing(small_scan, tmp_path, client):
    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reconstruct(small_scan, tmp_path / "volume.h5", SETTINGS, client, on_progress=stop)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"rows": "90:101"}, UsageError, "0:100"),
        ({"center": 48.0}, UsageError, "0 .. 47"),
        ({"entry": "nowhere"}, ScanError, "nowhere"),
    ],
)
def test_bad_settings_stop_before_anything_is_written(small_scan, tmp_path, client, settings, error, said):
    with pytest.raises(error, match=said):
        reconstruct(small_scan, tmp_path / "volume.h5", Settings(**{"center": 20.0} | settings), client)
    assert names(tmp_path) == []


def test_a_bad_scan_stops_before_anything_is_written(tmp_path, client):
    scan = tmp_path / "scan.nx"
    scan.write_bytes(b"not HDF5")
    with pytest.raises(RunnerError, match=r"scan\.nx"):
        reconstruct(scan, tmp_path / "volume.h5", SETTINGS, client)
    assert names(tmp_path) == ["scan.nx"]


def test_an_existing_volume_is_kept_unless_told(small_scan, tmp_path, client):
    volume = tmp_path / "volume.h5"
    volume.write_text("precious")
    with pytest.raises(WriteError, match="--overwrite"):
        reconstruct(small_scan, volume, SETTINGS, client)
    assert volume.read_text() == "precious"
    reconstruct(small_scan, volume, SETTINGS, client, overwrite=True)
    assert pixels(volume).shape == (100, 48, 48)


@pytest.mark.parametrize("name", ["scan.nx", "frames.h5", "link.nx"])
def test_no_file_of_the_scan_is_ever_replaced(small_scan, tmp_path, client, name):
    frames, scan = tmp_path / "frames.h5", tmp_path / "scan.nx"
    frames.write_bytes(small_scan.read_bytes())
    with h5py.File(scan, "w") as file:
        file["entry"] = h5py.ExternalLink("frames.h5", "/entry")
    (tmp_path / "link.nx").symlink_to(scan)
    before = {path: path.read_bytes() for path in (frames, scan)}
    with pytest.raises(WriteError, match="file of the scan"):
        reconstruct(scan, tmp_path / name, SETTINGS, client, overwrite=True)
    assert {path: path.read_bytes() for path in (frames, scan)} == before


def test_workers_in_other_folders_find_a_relative_volume(small_scan, tmp_path, expected, client, monkeypatch):
    monkeypatch.chdir(tmp_path)
    client.run(os.chdir, "/")
    outcome = reconstruct(small_scan, Path("volume.h5"), SETTINGS, client)
    assert outcome.volume == Path("volume.h5")
    np.testing.assert_array_equal(pixels(tmp_path / "volume.h5"), expected)


def test_a_link_is_followed_and_stays(small_scan, tmp_path, client):
    (tmp_path / "big").mkdir()
    link = tmp_path / "volume.h5"
    link.symlink_to(tmp_path / "big" / "disk.h5")
    reconstruct(small_scan, link, SETTINGS, client)
    assert link.is_symlink()
    assert names(tmp_path / "big") == ["disk.h5"]


def test_of_two_runs_into_one_volume_the_first_goes_on_and_the_other_says_so(
    small_scan, tmp_path, expected, client
):
    volume = tmp_path / "volume.h5"
    refused = []

    def begin_another(progress):
        if not refused and progress.done:
            with pytest.raises(WriteError, match=r"another run is making volume\.h5 now") as refusal:
                reconstruct(small_scan, volume, Settings(center=20.0), client, overwrite=True)
            refused.append(refusal)

    reconstruct(small_scan, volume, SETTINGS, client, on_progress=begin_another)
    assert refused
    np.testing.assert_array_equal(pixels(volume), expected)
    assert names(tmp_path) == ["volume.h5"]


def run_until(done, scan, volume, client, settings=SETTINGS):
    def look(progress):
        if progress.done >= done:
            raise RuntimeError("stopped here")

    with pytest.raises(RuntimeError, match="stopped here"):
        reconstruct(scan, volume, settings, client, on_progress=look)


def test_a_run_that_was_stopped_is_gone_on_with(tmp_path, tmp_path_factory, client):
    scan = tmp_path_factory.mktemp("tall") / "scan.nx"  # of more chunks than workers can have at once
    write_scan(scan, Simulation(rows=400, columns=48, angles=40, center=24.5, noise=False))
    expected, _ = by_hand(scan, scan.with_name("whole.h5"), 400)
    volume, notes = tmp_path / "volume.h5", []
    run_until(16, scan, volume, client)
    run_until(16, scan, volume, client)
    assert names(tmp_path) == UNFINISHED
    outcome = reconstruct(scan, volume, SETTINGS, client, on_note=notes.append)
    assert 16 <= outcome.made <= 400 - 32
    assert f"going on with {volume}.partial: {400 - outcome.made} of 400 slices are there" in notes
    np.testing.assert_array_equal(pixels(volume), expected)
    assert names(tmp_path) == ["volume.h5"]


def test_the_axis_that_was_found_is_kept(small_scan, tmp_path, client):
    volume = tmp_path / "volume.h5"
    found = reconstruct(small_scan, tmp_path / "other.h5", Settings(), client)
    run_until(16, small_scan, volume, client, Settings())
    again = reconstruct(small_scan, volume, Settings(), client)
    assert (again.axis.position, again.axis.origin) == (found.axis.position, found.axis.origin)
    np.testing.assert_array_equal(pixels(volume), pixels(tmp_path / "other.h5"))


def test_other_settings_do_not_go_on(small_scan, tmp_path, expected, client):
    volume = tmp_path / "volume.h5"
    run_until(16, small_scan, volume, client)
    other = replace(SETTINGS, window="hann")
    with pytest.raises(WriteError, match=r"was begun with window ram-lak \(now hann\); .*--overwrite"):
        reconstruct(small_scan, volume, other, client)
    assert names(tmp_path) == UNFINISHED
    assert reconstruct(small_scan, volume, SETTINGS, client, overwrite=True).made == 100
    np.testing.assert_array_equal(pixels(volume), expected)


def test_changed_frames_do_not_go_on(small_scan, tmp_path, client):
    frames, scan, volume = tmp_path / "frames.h5", tmp_path / "scan.nx", tmp_path / "volume.h5"
    frames.write_bytes(small_scan.read_bytes())
    with h5py.File(scan, "w") as file:
        file["entry"] = h5py.ExternalLink("frames.h5", "/entry")
    run_until(16, scan, volume, client)
    state = frames.stat()
    with h5py.File(frames, "r+") as file:
        file["entry/instrument/detector/data"][5, 60] += 100
    os.utime(frames, ns=(state.st_atime_ns, state.st_mtime_ns + 1000))
    with pytest.raises(WriteError, match=r"was begun with files 2 of .* \(now 2 of .*--overwrite"):
        reconstruct(scan, volume, SETTINGS, client)


def test_only_what_could_not_be_made_is_tried_again(damaged_scan, tmp_path, client):
    volume, totals = tmp_path / "volume.h5", set()
    for _ in range(2):
        with pytest.raises(LostError, match=r"16 of 100 slices could not be made: rows 32:48"):
            reconstruct(
                damaged_scan, volume, SETTINGS, client, on_progress=lambda seen: totals.add(seen.total)
            )
    assert totals == {100, 16}


def test_units_follow_the_pixel_size_unless_told():
    assert unit_scale(1e-4, Settings()) == (100.0, "1/cm")
    assert unit_scale(1e-4, Settings(units="1/pixel")) == (1.0, "1/pixel")
    assert unit_scale(None, Settings()) == (1.0, "1/pixel")
    with pytest.raises(ScanError, match="--units 1/pixel"):
        unit_scale(None, Settings(units="1/cm", origins={"units": "command line"}))


def test_the_plan_follows_from_headers_alone(small_scan):
    plan = plan_for(open_scan(small_scan), SETTINGS, Resources(workers=3, memory=1 << 30, threads=1))
    assert [chunk.rows for chunk in plan.chunks] == [16] * 6 + [4]
    assert plan.bytes_written == 100 * 48 * 48 * 4
