import os
import zlib
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from runner.errors import WriteError
from runner.tomo.volume import disk
from runner.tomo.volume.content import ChunkRecord
from runner.tomo.volume.forms import create_volume, discard_volume, finish_volume
from runner.tomo.volume.hdf5 import DATASET
from runner.tomo.volume.place import check_apart, check_place, check_space, partial_path
from runner.tomo.volume.slab import clear_slab, write_slab


def slices(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, 5, 4)).astype(np.float32)


def records():
    return [
        ChunkRecord(
            first_row=12,
            end_row=16,
            worker="tcp://b",
            begun=8.0,
            seconds={"read": 0.25, "write": 0.25},
            tries=2,
        ),
        ChunkRecord(first_row=10, end_row=12, worker="tcp://a", begun=7.0, seconds={"read": 0.25}),
    ]


def write_all(volume, content):
    """Write in two slabs, the last first, and finish."""
    target = create_volume(volume, content)
    pixels = slices(6)
    write_slab(target, 12, pixels[2:])
    write_slab(target, 10, pixels[:2])
    finish_volume(volume, target, records())
    return pixels


def follow_default(file):
    """Find the plot as silx and h5web do: along `default`, then `signal`."""
    group = file
    while "default" in group.attrs:
        group = group[group.attrs["default"]]
    assert group.attrs["NX_class"] == "NXdata"
    return group, group[group.attrs["signal"]]


def test_a_viewer_finds_the_pixels_with_axes_and_units(volume, content):
    pixels = write_all(volume, content)
    with h5py.File(volume) as file:
        group, dataset = follow_default(file)
        assert dataset.name == DATASET
        assert dataset.dtype == np.float32
        assert dataset.chunks is None
        np.testing.assert_array_equal(dataset[:], pixels)
        assert dataset.attrs["units"] == "1/cm"
        assert list(group.attrs["axes"]) == ["z", "y", "x"]
        for name, length in zip("zyx", dataset.shape, strict=True):
            assert group[name].shape == (length,)
            assert group[name].attrs["units"] == "m"
        np.testing.assert_allclose(group["z"], 2e-6 * np.arange(10, 16))
        np.testing.assert_allclose(group["y"], 2e-6 * np.array([-2, -1, 0, 1, 2]))
        np.testing.assert_allclose(group["x"], 2e-6 * np.array([-1.5, -0.5, 0.5, 1.5]))


def test_it_says_how_it_came_about(volume, content):
    write_all(volume, content)
    with h5py.File(volume) as file:
        assert file["entry/definition"].asstr()[()] == "NXtomoproc"
        process = file["entry/reconstruction"]
        assert process["command_line"].asstr()[()] == "reconstruct scan.nx"
        assert process["program"].asstr()[()] == "tomo-runner"
        assert process["libraries/numpy"].asstr()[()] == np.__version__
        assert "finufft" in process["libraries"]
        parameters = process["parameters"]
        assert parameters["center"][()] == 31.25
        assert parameters["center"].attrs["origin"] == "command line"
        assert parameters["window"].asstr()[()] == "hann"
        assert parameters["window"].attrs["origin"] == "recon.toml"
        assert not parameters["mask"][()]
        assert parameters["raw_file"].attrs["size"] == 123
        assert Path(parameters["raw_file"].asstr()[()]).name == "scan.nx"
        assert file["entry/start_time"].asstr()[()] <= file["entry/end_time"].asstr()[()]
        np.testing.assert_array_equal(process["status"], [1] * 6)
        np.testing.assert_array_equal(process["chunks/rows"], [[10, 12], [12, 16]])
        np.testing.assert_array_equal(process["crc32"], [zlib.crc32(one.tobytes()) for one in slices(6)])
        assert list(process["chunks/worker"].asstr()) == ["tcp://a", "tcp://b"]
        np.testing.assert_array_equal(process["chunks/begun"], [7, 8])
        np.testing.assert_array_equal(process["chunks/seconds_read"], [0.25, 0.25])
        np.testing.assert_array_equal(process["chunks/seconds_write"], [0, 0.25])
        np.testing.assert_array_equal(process["chunks/tries"], [1, 2])


def test_without_a_pixel_size_all_is_in_pixels(volume, content):
    write_all(volume, replace(content, units="1/pixel", pixel_size=None))
    with h5py.File(volume) as file:
        group, dataset = follow_default(file)
        assert dataset.attrs["units"] == "1/pixel"
        assert group["z"].attrs["units"] == "pixel"
        np.testing.assert_array_equal(group["z"], np.arange(10, 16))


def test_it_has_its_name_only_when_it_is_complete(volume, content):
    target = create_volume(volume, content)
    assert target.path == partial_path(volume)
    assert not volume.exists()
    write_slab(target, 10, slices(5))
    with pytest.raises(WriteError, match=r"lacks 1 slices, the first is number 5"):
        finish_volume(volume, target, records())
    assert not volume.exists()
    write_slab(target, 15, slices(1))
    finish_volume(volume, target, records())
    assert volume.exists()
    assert not target.path.exists()


def test_writing_twice_does_no_harm(volume, content):
    target = create_volume(volume, content)
    pixels = slices(6)
    write_slab(target, 10, pixels)
    before = target.path.read_bytes()
    write_slab(target, 12, pixels[2:4])
    assert target.path.read_bytes() == before


def test_missing_slices_are_nan_and_marked(volume, content):
    target = create_volume(volume, content)
    write_slab(target, 10, slices(6))
    clear_slab(target, 12, 14)
    with h5py.File(target.path) as file:
        missing = np.isnan(file[DATASET]).all(axis=(1, 2))
        np.testing.assert_array_equal(missing, [False, False, True, True, False, False])
        np.testing.assert_array_equal(file["entry/reconstruction/status"], [1, 1, 0, 0, 1, 1])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("byte", "row"), [(0, 12), (79, 12), (80, 13), (159, 13)])
def test_what_the_disk_gives_back_is_compared(volume, content, monkeypatch, byte, row, threads):
    target = create_volume(volume, content)
    real = os.fsync

    def spoil_pixels(descriptor):
        """Lose a bit on the way to the disk."""
        real(descriptor)
        place = target.offset + 2 * 80 + byte  # row 12 is the third slice, of 80 bytes each
        (spoiled,) = os.pread(descriptor, 1, place)
        os.pwrite(descriptor, bytes([spoiled ^ 1]), place)

    monkeypatch.setattr(os, "fsync", spoil_pixels)
    monkeypatch.setattr(disk, "_BLOCK", 32)  # a slice is two of these and a half
    with pytest.raises(WriteError, match=f"other bytes than were written of row {row}"):
        write_slab(target, 12, slices(2), threads=threads)
    monkeypatch.undo()
    with h5py.File(target.path) as file:
        assert not file["entry/reconstruction/status"][:].any()


def test_what_the_disk_loses_is_noticed(volume, content, monkeypatch):
    target = create_volume(volume, content)
    real = os.fsync

    def cut_short(descriptor):
        real(descriptor)
        os.truncate(descriptor, target.offset + 6 * 80 - 1)

    monkeypatch.setattr(os, "fsync", cut_short)
    with pytest.raises(WriteError, match="of row 15"):
        write_slab(target, 10, slices(6))


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_no_bit_of_the_volume(volume, content, threads):
    one, several = create_volume(volume, content), create_volume(volume.with_name("several.h5"), content)
    write_slab(one, 10, slices(6))
    write_slab(several, 10, slices(6), threads=threads)
    for offset, length in ((one.offset, 6 * 80), (one.checksum_offset, 6 * 4), (one.status_offset, 6)):
        parts = [target.path.read_bytes()[offset : offset + length] for target in (one, several)]
        assert parts[0] == parts[1]


def test_a_volume_that_is_gone_is_a_write_error(volume, content):
    target = create_volume(volume, content)
    target.path.unlink()
    with pytest.raises(WriteError, match="cannot be written"):
        write_slab(target, 10, slices(1))


def test_a_volume_that_another_run_has_begun_is_left_alone(volume, content):
    first = create_volume(volume, content)
    before = first.path.read_bytes()
    with pytest.raises(WriteError, match="was begun by another run just now"):
        create_volume(volume, content)
    assert first.path.read_bytes() == before


def test_two_runs_never_write_into_one_file(volume, content):
    first = create_volume(volume, content)
    write_slab(first, 10, slices(6))
    second = create_volume(volume, content, overwrite=True)
    before = second.path.read_bytes()
    for meddle in (
        lambda: write_slab(first, 10, slices(1)),
        lambda: clear_slab(first, 10, 11),
        lambda: finish_volume(volume, first, records()),
    ):
        with pytest.raises(WriteError, match="another run"):
            meddle()
    discard_volume(first)
    assert second.path.read_bytes() == before
    assert not volume.exists()
    write_slab(second, 10, slices(6))
    finish_volume(volume, second, records())
    assert volume.exists()


def test_an_unfinished_volume_of_ours_can_be_discarded(volume, content):
    target = create_volume(volume, content)
    discard_volume(target)
    discard_volume(target)
    assert not target.path.exists()


def test_places_that_will_not_do(tmp_path, volume):
    with pytest.raises(WriteError, match="no folder"):
        check_place(tmp_path / "nowhere" / "volume.h5", overwrite=True)
    with pytest.raises(WriteError, match="is a folder"):
        check_place(tmp_path, overwrite=True)
    check_place(volume, overwrite=False)
    partial_path(volume).touch()
    check_place(volume, overwrite=False)
    volume.touch()
    with pytest.raises(WriteError, match="exists already"):
        check_place(volume, overwrite=False)
    check_place(volume, overwrite=True)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(WriteError, match="device or a pipe"):
        check_place(pipe, overwrite=True)


def test_a_volume_never_takes_the_place_of_its_scan(tmp_path, volume):
    scan, link = tmp_path / "scan.nx", tmp_path / "link.nx"
    scan.touch()
    link.symlink_to(scan)
    check_apart(volume, [scan])
    for name in (scan, link):
        with pytest.raises(WriteError, match="is a file of the scan"):
            check_apart(name, [volume.parent / "scan.nx"])
    partial_path(volume).touch()
    with pytest.raises(WriteError, match=r"volume\.h5\.partial is a file of the scan"):
        check_apart(volume, [scan, partial_path(volume)])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_closed_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(WriteError, match="not writable"):
        check_place(tmp_path / "volume.h5", overwrite=False)


def test_a_full_disk_is_refused(volume):
    check_space(volume, 1)
    with pytest.raises(WriteError, match="left, and the volume needs"):
        check_space(volume, 1 << 60)
