"""How frames lie is known, and those that are compressed whole are not decoded again and again."""

from collections import Counter

import fabio
import h5py
import hdf5plugin
import numpy as np
import pytest
import tifffile

from runner.errors import ScanError
from runner.tomo.correct.corrections import NO_CORRECTIONS, prepared_sinograms
from runner.tomo.pipeline import plan_for
from runner.tomo.plan import Resources
from runner.tomo.scan import Frames, direct, open_scan
from runner.tomo.scan.images import frames_in
from runner.tomo.scan.layout import rows_together
from runner.tomo.settings import Settings

from .conftest import ANGLES, KEYS

SHAPE = (96, 8)


def frames_at(path, dataset="d"):
    return Frames(file=path, dataset=dataset, indices=np.arange(2))


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({}, 1),
        ({"chunks": (1, 96, 8)}, 1),
        ({"chunks": (1, 96, 8), "compression": "gzip"}, 96),
        ({"chunks": (2, 16, 4), **hdf5plugin.Bitshuffle(cname="lz4")}, 16),
    ],
)
def test_what_is_stored_as_it_is_can_be_read_by_the_line(tmp_path, options, rows):
    for name in ("frames.h5", "joined.h5"):
        with h5py.File(tmp_path / name, "w") as file:
            if name == "frames.h5":
                file.create_dataset("d", data=np.ones((3, *SHAPE), np.uint16), **options)
            else:
                layout = h5py.VirtualLayout((3, *SHAPE), np.uint16)
                layout[:] = h5py.VirtualSource("frames.h5", "d", (3, *SHAPE))
                file.create_virtual_dataset("d", layout)
        assert rows_together(frames_at(tmp_path / name)) == rows


def test_images_that_are_no_plain_tiff_are_read_whole(tmp_path):
    image = np.ones(SHAPE, np.uint16)
    tifffile.imwrite(tmp_path / "plain.tif", image)
    tifffile.imwrite(tmp_path / "packed.tif", image, compression="zlib")
    fabio.edfimage.EdfImage(data=image).write(str(tmp_path / "one.edf"))
    found = {
        name: rows_together(frames_in(tmp_path / name)) for name in ("plain.tif", "packed.tif", "one.edf")
    }
    assert found == {"plain.tif": 1, "packed.tif": 96, "one.edf": 96}


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "bad.h5").write_bytes(b"nothing")
    with pytest.raises(ScanError, match=r"bad\.h5 is not an HDF5 file"):
        rows_together(frames_at(tmp_path / "bad.h5"))


@pytest.fixture
def compressed(tmp_path):
    """A scan of whole frames, each a chunk of its own."""
    path = tmp_path / "scan.nx"
    frames = np.random.default_rng(0).integers(1000, 2000, (len(KEYS), *SHAPE), np.uint16)
    with h5py.File(path, "w") as file:
        entry = file.create_group("entry")
        entry["definition"] = "NXtomo"
        detector = entry.create_group("instrument/detector")
        detector.create_dataset("data", data=frames, chunks=(1, *SHAPE), compression="gzip")
        detector["image_key"] = np.array(KEYS)
        entry["sample/rotation_angle"] = np.array(ANGLES, float)
        entry["sample/rotation_angle"].attrs["units"] = "degree"
    return path


@pytest.mark.parametrize(("workers", "times"), [(1, 1), (2, 2), (3, 3)])
def test_each_frame_is_decoded_once_for_each_worker(compressed, monkeypatch, workers, times):
    scan = open_scan(compressed)
    resources = Resources(workers=workers, memory=1 << 30, threads=2)
    plan = plan_for(scan, Settings(center=3.5), resources)
    decoded = Counter()
    real = direct.decode

    def counted(packed, *others):
        decoded[bytes(packed)] += 1
        return real(packed, *others)

    monkeypatch.setattr(direct, "decode", counted)
    for chunk in plan.chunks:
        prepared_sinograms(scan, slice(chunk.first_row, chunk.end_row), NO_CORRECTIONS, threads=2)
    assert decoded
    assert set(decoded.values()) == {times}
    assert plan.rows_decoded == times * scan.rows
