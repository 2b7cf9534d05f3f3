"""What is looked at finds lost frames even where not all can be looked at."""

import h5py
import numpy as np
import pytest
import tifffile

from runner.tomo.check import sample
from runner.tomo.check.sample import take_sample
from runner.tomo.scan import open_scan
from runner.tomo.sources import Sources

SHAPE = (100, 16, 24)


@pytest.fixture
def frames():
    pixels = np.random.default_rng(0).integers(900, 1100, SHAPE).astype(np.uint16)
    pixels[[13, 57]] = 0
    return pixels


@pytest.fixture
def sources(tmp_path):
    with h5py.File(tmp_path / "still.h5", "w") as file:
        file["flats"], file["darks"] = np.full((2, *SHAPE[1:]), 2000.0), np.zeros((2, *SHAPE[1:]))
    return {"flats": "still.h5::/flats", "darks": "still.h5::/darks", "angles": "0:180:100"}


def test_lost_frames_among_many_compressed_ones_are_found_by_their_size(
    tmp_path, frames, sources, monkeypatch
):
    monkeypatch.setattr(sample, "_CHEAP", 1)
    with h5py.File(tmp_path / "scan.h5", "w") as file:
        file.create_dataset("data", data=frames, chunks=(1, *SHAPE[1:]), compression="gzip")
    seen = take_sample(open_scan(tmp_path / "scan.h5", Sources(projections="/data", **sources)))
    assert 32 <= np.isfinite(seen.projections).sum() <= 34
    assert np.flatnonzero(seen.projections == 0).tolist() == [13, 57]


def test_and_among_compressed_images(tmp_path, frames, sources, monkeypatch):
    monkeypatch.setattr(sample, "_CHEAP", 1)
    (tmp_path / "images").mkdir()
    for number, frame in enumerate(frames):
        tifffile.imwrite(tmp_path / "images" / f"{number}.tif", frame, compression="zlib")
    seen = take_sample(open_scan(tmp_path / "images", Sources(**sources)))
    assert np.isfinite(seen.projections).sum() < 40
    assert np.flatnonzero(seen.projections == 0).tolist() == [13, 57]


def test_plain_frames_are_all_looked_at(tmp_path, frames, sources, monkeypatch):
    monkeypatch.setattr(sample, "_CHEAP", 1)
    with h5py.File(tmp_path / "scan.h5", "w") as file:
        file["data"] = frames
    seen = take_sample(open_scan(tmp_path / "scan.h5", Sources(projections="/data", **sources)))
    assert seen.projections == pytest.approx(frames[:, [4, 8, 12]].mean(axis=(1, 2)))
    assert seen.flats[0].tolist() == [2000, 2000]
    assert (seen.pixels, seen.unwritten) == (100 * 3 * 24, 0)
