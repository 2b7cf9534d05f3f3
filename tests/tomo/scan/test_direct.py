"""Reading without HDF5 gives what HDF5 reads; and it is left to HDF5 where it must be."""

import tempfile
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.errors import ScanError
from runner.tomo.scan import Frames, read
from runner.tomo.scan.direct import overlaps
from runner.tomo.scan.read import read_frames

from .conftest import frames_of

FILTERS = {
    "none": {},
    "gzip": {"compression": "gzip"},
    "shuffle": {"shuffle": True},
    "both": {"compression": "gzip", "compression_opts": 9, "shuffle": True},
    "bitshuffle": dict(hdf5plugin.Bitshuffle(cname="none")),
    "bitshuffle and lz4": dict(hdf5plugin.Bitshuffle(cname="lz4")),
    "bitshuffle and zstd": dict(hdf5plugin.Bitshuffle(cname="zstd")),
    "lz4": dict(hdf5plugin.LZ4()),
    "zstd": dict(hdf5plugin.Zstd()) | {"shuffle": True},
}


def directly(path, indices, rows, threads=2):
    """Read in the one way only; None if it leaves that to HDF5."""
    with h5py.File(path, "r", locking=False) as file:
        dataset = file["d"]
        pixels = np.empty((len(indices), rows.stop - rows.start, dataset.shape[2]), dataset.dtype)
        done = read._read_directly(dataset, np.array(indices, np.int64), rows, pixels, threads)
        return pixels if done else None


def left_to_hdf5(path, indices=(0, 2), rows=slice(1, 3)):
    """Tell whether it is, and make sure that HDF5's values are returned."""
    found = read_frames(Frames(file=path, dataset="d", indices=np.array(indices)), rows)
    with h5py.File(path, "r", locking=False) as file:
        assert np.array_equal(found, file["d"][list(indices), rows])
    return directly(path, indices, rows) is None


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_it_is_what_hdf5_reads(data):
    shape = data.draw(st.tuples(st.integers(1, 20), st.integers(1, 9), st.integers(1, 17)))
    kind = data.draw(st.sampled_from(["u1", "<u2", ">u2", "<i4", "<f4", ">f4", "<f8", "<u8"]))
    stored = np.random.default_rng(0).integers(0, 200, shape).astype(kind)
    options = {}
    if data.draw(st.booleans()):
        chunks = data.draw(st.tuples(*(st.integers(1, length) for length in shape)))
        options = {"chunks": chunks} | FILTERS[data.draw(st.sampled_from(list(FILTERS)))]
    indices = sorted(data.draw(st.sets(st.integers(0, shape[0] - 1))))
    start = data.draw(st.integers(0, shape[1] - 1))
    rows = slice(start, data.draw(st.integers(start + 1, shape[1])))
    latest = data.draw(st.sampled_from(["earliest", "latest"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.h5"
        with h5py.File(path, "w", libver=latest) as file:
            file.create_dataset("d", data=stored, **options)
        found = directly(path, indices, rows, threads=data.draw(st.integers(2, 3)))
        if options.get("chunks", shape)[2] < shape[2] and len(options) == 1:
            assert found is None  # HDF5 is as fast
            found = read_frames(Frames(file=path, dataset="d", indices=np.array(indices, int)), rows)
        assert found is not None
        assert found.dtype == stored.dtype
        assert np.array_equal(found, stored[indices][:, rows])


@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    block=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    start=st.integers(0, 39),
    count=st.integers(1, 40),
)
def test_overlaps_cover_the_wanted_rows_once(shape, block, start, count):
    rows = slice(min(start, shape[0] - 1), min(start + count, shape[0]))
    rows = slice(rows.start, max(rows.stop, rows.start + 1))
    times = np.zeros((rows.stop - rows.start, shape[1]), int)
    y, x = np.mgrid[rows, : shape[1]]
    for part in overlaps(shape, block, rows):
        times[part.into] += 1
        lines, columns = (np.arange(inside.start, inside.stop) for inside in part.inside)
        assert (lines < block[0]).all()
        assert (y[part.into] == (part.place[0] * block[0] + lines)[:, np.newaxis]).all()
        assert (x[part.into] == part.place[1] * block[1] + columns).all()
    assert (times == 1).all()


def test_one_thread_leaves_it_to_hdf5_to_decode(path):
    write(path, chunks=(1, 3, 8), compression="gzip")
    assert directly(path, [0, 2], slice(1, 3), threads=1) is None
    write(path, chunks=(1, 3, 8))
    assert np.array_equal(directly(path, [0, 2], slice(1, 3), threads=1), frames_of(4)[[0, 2], 1:3])


def write(path, **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=frames_of(4), **options)
    return path


@pytest.fixture(name="path")
def _path(tmp_path):
    return tmp_path / "a.h5"


def test_pixels_in_another_file(path, tmp_path):
    (tmp_path / "raw").write_bytes(frames_of(4).tobytes())
    with h5py.File(path, "w") as file:
        file.create_dataset("d", (4, 3, 8), "u2", external=[(str(tmp_path / "raw"), 0, 192)])
    assert left_to_hdf5(path)


def test_a_virtual_dataset(path, tmp_path):
    write(tmp_path / "b.h5")
    layout = h5py.VirtualLayout((4, 3, 8), np.uint16)
    layout[:] = h5py.VirtualSource("b.h5", "d", (4, 3, 8))
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("d", layout)
    assert left_to_hdf5(path)


def test_a_file_with_something_before_it(path):
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("d", data=frames_of(4), chunks=(1, 3, 8))
    assert left_to_hdf5(path)


@pytest.mark.parametrize("options", [{"fletcher32": True, "chunks": (1, 3, 8)}, dict(hdf5plugin.Zfp())])
def test_a_filter_of_which_only_hdf5_knows(path, options):
    with h5py.File(path, "w") as file:
        kind = np.uint16 if "fletcher32" in options else np.float32
        file.create_dataset("d", data=frames_of(4).astype(kind), **{"chunks": (1, 3, 8)} | options)
    assert left_to_hdf5(path)


@pytest.mark.parametrize("chunks", [None, (1, 3, 8), (2, 2, 3)])
def test_what_was_never_written_has_the_fill_value(path, chunks):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("d", (4, 3, 8), "u2", chunks=chunks, fillvalue=7)
        if chunks:
            data[3, 2, 7] = 1
    assert left_to_hdf5(path)


@pytest.mark.parametrize("kind", ["12 bits", "enum", "boolean"])
def test_numbers_that_are_not_numpys(path, kind):
    stored = frames_of(4) % 2
    with h5py.File(path, "w") as file:
        if kind == "12 bits":
            number = h5py.h5t.STD_U16LE.copy()
            number.set_precision(12)
            number.set_offset(2)
            space = h5py.h5s.create_simple((4, 3, 8))
            h5py.h5d.create(file.id, b"d", number, space).write(h5py.h5s.ALL, h5py.h5s.ALL, stored)
        else:
            dtype = h5py.enum_dtype({"A": 0, "B": 1}, "u2") if kind == "enum" else np.bool_
            file.create_dataset("d", data=stored.astype(dtype), dtype=dtype)
    assert left_to_hdf5(path)


def test_a_compact_dataset(path):
    with h5py.File(path, "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((4, 3, 8))
        data = h5py.h5d.create(file.id, b"d", h5py.h5t.STD_U16LE, space, dcpl=plist)
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, frames_of(4))
    assert left_to_hdf5(path)


def test_a_file_that_this_process_writes_to(path):
    """What was written may not be in the file yet."""
    write(path, chunks=(1, 3, 8))
    with h5py.File(path, "r+", locking=False) as file:
        file["d"][2] = 9
        found = read_frames(Frames(file=path, dataset="d", indices=np.array([2])), slice(0, 3))
    assert (found == 9).all()


def test_a_file_that_was_changed_is_looked_up_anew(path):
    frames = Frames(file=path, dataset="d", indices=np.arange(4))
    for count in (1, 2):
        with h5py.File(path, "w") as file:
            file["before"] = np.zeros(100 * count)
            file.create_dataset("d", data=frames_of(4) + count)
        assert np.array_equal(read_frames(frames, slice(0, 3)), frames_of(4) + count)


@pytest.mark.parametrize("options", [{}, {"chunks": (1, 3, 8)}, {"chunks": (1, 3, 8), "compression": "gzip"}])
def test_a_truncated_file_is_an_error_and_never_read_beyond(path, options):
    write(path, **options)
    frames = Frames(file=path, dataset="d", indices=np.arange(4))
    assert read_frames(frames, slice(0, 3)).shape == (4, 3, 8)
    whole = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(whole - 50)
    with pytest.raises(ScanError, match=f"is truncated: {whole - 50} of {whole} bytes"):
        read_frames(frames, slice(0, 3))


def test_a_file_that_ends_while_it_is_read_is_left_to_hdf5(path):
    write(path)
    with h5py.File(path, "r", locking=False) as file:
        with path.open("r+b") as other:
            other.truncate(file["d"].id.get_offset() + 50)
        pixels = np.empty((4, 3, 8), np.uint16)
        assert not read._read_directly(file["d"], np.arange(4), slice(0, 3), pixels, 1)


@pytest.mark.parametrize("name", FILTERS)
def test_damaged_chunks_are_an_error_of_hdf5s(path, name):
    """Or, if they are not compressed, other numbers."""
    with h5py.File(path, "w") as file:
        data = file.create_dataset("d", data=frames_of(64), chunks=(32, 3, 8), **FILTERS[name])
        where = data.id.get_chunk_info(1)
    content = bytearray(path.read_bytes())
    content[where.byte_offset : where.byte_offset + where.size] = bytes(where.size)
    path.write_bytes(content)
    frames = Frames(file=path, dataset="d", indices=np.arange(64))
    if name in ("none", "shuffle", "bitshuffle"):
        assert not read_frames(frames, slice(0, 3))[32:].any()
        return
    with pytest.raises(ScanError, match="cannot be read"):
        read_frames(frames, slice(0, 3), threads=2)
    good = Frames(file=path, dataset="d", indices=np.arange(32))
    assert np.array_equal(read_frames(good, slice(0, 3), threads=2), frames_of(32))


def test_many_threads_decode_the_same(path):
    stored = np.random.default_rng(0).integers(0, 9, (200, 30, 40)).astype(np.uint16)
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=stored, chunks=(1, 30, 40), **hdf5plugin.Bitshuffle(cname="lz4"))
    for _ in range(5):
        assert np.array_equal(directly(path, range(200), slice(3, 9), threads=8), stored[:, 3:9])
