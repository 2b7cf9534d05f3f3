"""The pixels that are read are the pixels that are stored, whatever the layout."""

from itertools import pairwise

import h5py
import hdf5plugin
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import MissingFileError, ScanError
from runner.tomo.scan import Frames, open_scan
from runner.tomo.scan.read import read_frames, runs

from .conftest import frames_of

LAYOUTS = {
    "contiguous": {},
    "frames": {"chunks": (1, 7, 8)},
    "blocks": {"chunks": (3, 2, 8)},
    "gzip": {"chunks": (1, 7, 8), "compression": "gzip"},
    "bitshuffle": {"chunks": (1, 7, 8), **hdf5plugin.Bitshuffle(cname="lz4")},
    "blosc": {"chunks": (2, 7, 8), **hdf5plugin.Blosc()},
    "zstd": {"chunks": (2, 7, 8), **hdf5plugin.Zstd()},
}


@given(st.sets(st.integers(0, 60)))
def test_runs_give_the_indices_back_and_leave_gaps(indices):
    found = runs(np.array(sorted(indices), np.int64))
    assert [index for start, stop in found for index in range(start, stop)] == sorted(indices)
    assert all(before[1] < after[0] for before, after in pairwise(found))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_and_any_choice_of_frames(tmp_path, layout):
    stored = frames_of(10, (7, 8))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("deep/down", data=stored, **LAYOUTS[layout])
    for indices in ([0], [9], list(range(10)), [0, 1, 4, 5, 9]):
        frames = Frames(file=tmp_path / "a.h5", dataset="/deep/down", indices=np.array(indices))
        for rows in (slice(0, 7), slice(2, 3), slice(3, 7)):
            read = read_frames(frames, rows)
            assert read.dtype == np.uint16
            assert np.array_equal(read, stored[indices][:, rows])


def test_a_file_that_this_process_has_open_can_be_read(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["d"] = frames_of(2)
    frames = Frames(file=tmp_path / "a.h5", dataset="d", indices=np.array([0]))
    with h5py.File(tmp_path / "a.h5", "r"):
        assert read_frames(frames, slice(0, 3)).shape == (1, 3, 8)


def test_damaged_pixels_are_an_error_that_names_the_dataset(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("d", data=frames_of(4), chunks=(4, 3, 8), compression="gzip")
        where = data.id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[where.byte_offset : where.byte_offset + where.size] = bytes(where.size)
    path.write_bytes(content)
    with pytest.raises(ScanError, match=r"/d of .*a\.h5 cannot be read .*copy it again"):
        read_frames(Frames(file=path, dataset="d", indices=np.arange(4)), slice(0, 3))


def test_a_missing_filter_is_named(tmp_path):
    """As with a detector's own compression; the chunk is written past the filters."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((4, 3, 8))
        plist.set_filter(32767, h5py.h5z.FLAG_OPTIONAL)
        space = h5py.h5s.create_simple((4, 3, 8))
        data = h5py.h5d.create(file.id, b"d", h5py.h5t.NATIVE_UINT16, space, dcpl=plist)
        data.write_direct_chunk((0, 0, 0), frames_of(4).tobytes())
    with pytest.raises(ScanError, match="with the HDF5 filter 32767, which is not installed"):
        read_frames(Frames(file=path, dataset="d", indices=np.arange(4)), slice(0, 3))


@pytest.fixture
def virtual(tmp_path, write_nxtomo):
    """A scan whose frames are joined from two files."""

    def join(lengths=(6, 5), total=11):
        for name, length in zip("ab", (6, 5), strict=True):
            with h5py.File(tmp_path / f"{name}.h5", "w") as file:
                file["d"] = frames_of(11)[:length] + 100
        layout = h5py.VirtualLayout((total, 3, 8), np.uint16)
        layout[:6] = h5py.VirtualSource("a.h5", "d", (6, 3, 8))
        layout[6 : 6 + lengths[1]] = h5py.VirtualSource("b.h5", "d", (lengths[1], 3, 8))

        def link(group):
            del group["instrument/detector/data"]
            group.create_virtual_dataset("instrument/detector/data", layout)

        return write_nxtomo(change=link)

    return join


def test_a_virtual_dataset_is_read_from_its_sources(virtual):
    scan = open_scan(virtual())
    expected = np.concatenate([frames_of(11)[:6], frames_of(11)[:5]])[4:8] + 100
    assert np.array_equal(read_frames(scan.projections, slice(0, 3)), expected)


def test_a_virtual_dataset_never_reads_as_zeros(virtual, tmp_path):
    path = virtual()
    scan = open_scan(path)
    (tmp_path / "b.h5").unlink()
    with pytest.raises(MissingFileError, match=r"b\.h5 is missing"):
        open_scan(path)
    with pytest.raises(MissingFileError, match=r"b\.h5 is missing"):
        read_frames(scan.projections, slice(0, 3))


def test_a_virtual_dataset_longer_than_its_source_is_refused(virtual, tmp_path):
    path = virtual()
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["d"] = frames_of(3)
    with pytest.raises(ScanError, match=r"b\.h5 has shape \(3, 3, 8\) only"):
        open_scan(path)


def test_a_virtual_dataset_with_unmapped_frames_is_refused(virtual):
    with pytest.raises(ScanError, match=f"only {10 * 24} of {11 * 24} values"):
        open_scan(virtual(lengths=(6, 4)))


def test_a_virtual_source_without_its_dataset_is_refused(virtual, tmp_path):
    path = virtual()
    with h5py.File(tmp_path / "b.h5", "w"):
        pass
    with pytest.raises(ScanError, match=r"b\.h5 has no dataset /d"):
        open_scan(path)


def test_a_numbered_series_of_sources_is_refused(write_nxtomo):
    def link(group):
        unlimited = h5py.h5s.UNLIMITED
        target = h5py.h5s.create_simple((11, 3, 8), (unlimited, 3, 8))
        target.select_hyperslab((0, 0, 0), (unlimited, 1, 1), (1, 1, 1), (1, 3, 8))
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_virtual(target, b"part%b.h5", b"d", h5py.h5s.create_simple((1, 3, 8)))
        del group["instrument/detector/data"]
        detector = group["instrument/detector"].id
        h5py.h5d.create(detector, b"data", h5py.h5t.NATIVE_UINT16, target, dcpl=plist)

    with pytest.raises(ScanError, match="numbered series"):
        open_scan(write_nxtomo(change=link))


def test_links_are_followed_to_the_file_that_holds_the_frames(write_nxtomo, tmp_path):
    (tmp_path / "raw").mkdir()
    with h5py.File(tmp_path / "raw" / "frames.h5", "w") as file:
        file["a/b"] = frames_of(11)
        file["d"] = h5py.SoftLink("/a/b")

    def link(group):
        del group["instrument/detector/data"]
        group["instrument/detector/data"] = h5py.ExternalLink("raw/frames.h5", "/d")

    path = write_nxtomo(change=link)
    scan = open_scan(path)
    assert scan.projections.file == (tmp_path / "raw" / "frames.h5").resolve()
    assert np.array_equal(read_frames(scan.projections, slice(0, 3)), frames_of(11)[4:8])
    with h5py.File(tmp_path / "raw" / "frames.h5", "a") as file:
        del file["d"]
    with pytest.raises(ScanError, match=r"links to /d, which is not in .*frames\.h5"):
        open_scan(path)
    (tmp_path / "raw" / "frames.h5").write_bytes(b"no HDF5")
    with pytest.raises(ScanError, match=r"frames\.h5 is not an HDF5 file"):
        open_scan(path)
    (tmp_path / "raw" / "frames.h5").unlink()
    with pytest.raises(MissingFileError, match=r"raw/frames\.h5 is missing"):
        open_scan(path)


def test_a_scan_behind_a_broken_link_is_missing_not_absent(tmp_path):
    with h5py.File(tmp_path / "master.h5", "w") as file:
        file["entry"] = h5py.ExternalLink("scan0001.h5", "/entry")
    with pytest.raises(MissingFileError, match=r"scan0001\.h5 is missing"):
        open_scan(tmp_path / "master.h5")


def test_a_dangling_soft_link_is_named(write_nxtomo):
    def link(group):
        del group["instrument/detector/data"]
        group["instrument/detector/data"] = h5py.SoftLink("/nowhere")

    with pytest.raises(ScanError, match=r"detector/data .*links to /nowhere"):
        open_scan(write_nxtomo(change=link))
