"""Every form of a volume keeps the same promises, and opens in the programs that it is for."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import tifffile
import zarr

from runner.errors import WriteError
from runner.tomo.volume.content import ChunkRecord
from runner.tomo.volume.forms import create_volume, discard_volume, finish_volume
from runner.tomo.volume.greys import Greys
from runner.tomo.volume.hdf5 import DATASET
from runner.tomo.volume.place import DESCRIPTION, check_place, partial_path
from runner.tomo.volume.resume import check_same, read_unfinished, take_over
from runner.tomo.volume.slab import clear_slab, rows_to_make, write_slab

ROWS = 37  # two shards of zarr and a part of one
NAMES = ["volume.h5", "volume.tif", "volume.zarr", "volume.h5d", "volume"]
FOLDERS = ["volume.zarr", "volume.h5d", "volume"]
RECORDS = [ChunkRecord(first_row=10, end_row=10 + ROWS, worker="tcp://a", begun=0.0, seconds={"read": 0.5})]


def read(volume: Path) -> np.ndarray:
    if volume.suffix == ".zarr":
        return zarr.open_group(volume, mode="r")["0"][:]
    if volume.suffix == ".tif":
        return tifffile.imread(volume)
    if volume.suffix == "":
        return np.stack([tifffile.imread(file) for file in sorted(volume.glob("*.tif"))])
    with h5py.File(volume / DESCRIPTION if volume.is_dir() else volume) as file:
        return file[DATASET][:]


def slices() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(ROWS, 5, 4)).astype(np.float32)


@pytest.fixture(params=NAMES)
def place(request, tmp_path):
    return tmp_path / request.param


@pytest.fixture
def tall(content):
    return replace(content, shape=(ROWS, 5, 4))


@pytest.mark.parametrize(
    "greys",
    [Greys(), Greys(dtype="float16"), Greys(dtype="uint16", low=-1, high=2), Greys(dtype="uint8", high=1)],
)
def test_what_is_written_is_read_by_the_programs_it_is_for(place, tall, greys):
    target = create_volume(place, replace(tall, greys=greys))
    for threads, (first, end) in enumerate(((25, 37), (0, 12), (12, 25)), start=1):
        write_slab(target, 10 + first, slices()[first:end], threads=threads)
    clipped = finish_volume(place, target, RECORDS)
    found, expected = read(place), slices()
    assert found.shape == (ROWS, 5, 4)
    assert found.dtype == greys.dtype
    if greys.levels:
        assert clipped == (np.sum(expected < greys.low), np.sum(expected > greys.high), 0)
        expected = np.clip(expected, greys.low, greys.high)
        np.testing.assert_allclose(found * greys.step + greys.low, expected, atol=greys.step * 0.501)
    else:
        np.testing.assert_array_equal(found, expected.astype(greys.dtype))
    assert [path.name for path in place.parent.iterdir() if path.name != "scan.nx"] == [place.name]


def test_parts_are_one_wherever_they_are_moved_to(tall, tmp_path):
    place = tmp_path / "volume.h5d"
    target = create_volume(place, tall)
    write_slab(target, 10, slices())
    finish_volume(place, target, RECORDS)
    moved = tmp_path / "elsewhere" / "moved.h5d"
    moved.parent.mkdir()
    place.rename(moved)
    np.testing.assert_array_equal(read(moved), slices())
    with h5py.File(moved / DESCRIPTION) as file:
        assert {source.file_name for source in file[DATASET].virtual_sources()} == {
            "part_00000.h5",
            "part_00001.h5",
        }
        assert file[DATASET].attrs["units"] == "1/cm"
    with h5py.File(moved / "part_00001.h5") as part:
        np.testing.assert_array_equal(part["data"][:], slices()[32:])


def test_what_is_missing_or_not_as_it_was_written_is_made_again(place, tall):
    target = create_volume(place, tall)
    write_slab(target, 10, slices()[:30])
    clear_slab(target, 12, 13)
    path = target.path if target.files is None else target.path.parent / target.files.name(20)
    with path.open("r+b") as file:  # one bit of the slice of row 30
        file.seek(target.offset + 20 % (target.files.slices if target.files else ROWS) * 80 + 7)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 8]))
    found = read_unfinished(place)
    assert found.target == target
    check_same(found, tall)
    ours = take_over(found)
    assert rows_to_make(ours, 10, 47) == [12, 30, *range(40, 47)]
    with pytest.raises(WriteError, match="taken over by another run"):
        write_slab(target, 10, slices()[:1])
    with pytest.raises(WriteError, match="lacks 8 slices"):
        finish_volume(place, ours, RECORDS)
    assert not place.exists()


def test_a_file_that_is_gone_counts_as_missing(tmp_path, tall):
    target = create_volume(tmp_path / "volume", tall)
    write_slab(target, 10, slices())
    (target.folder / target.files.name(3)).unlink()
    assert rows_to_make(target, 10, 47) == [13]


def test_two_runs_never_write_into_one_volume(place, tall):
    first = create_volume(place, tall)
    with pytest.raises(WriteError, match="begun by another run just now"):
        create_volume(place, tall)
    second = create_volume(place, tall, overwrite=True)
    write_slab(second, 10, slices())
    for meddle in (lambda: write_slab(first, 10, slices()), lambda: clear_slab(first, 10, 11)):
        with pytest.raises(WriteError, match="another run"):
            meddle()
    discard_volume(first)
    finish_volume(place, second, RECORDS)
    np.testing.assert_array_equal(read(place), slices())


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_replaced_only_if_it_is_a_volume(tmp_path, tall, name):
    place = tmp_path / name
    place.mkdir()
    (place / "thesis.tex").touch()
    with pytest.raises(WriteError, match="no volume of this program"):
        check_place(place, overwrite=True)
    shutil.rmtree(place)
    for _ in range(2):
        check_place(place, overwrite=True)
        target = create_volume(place, tall, overwrite=True)
        write_slab(target, 10, slices())
        finish_volume(place, target, RECORDS)
    with pytest.raises(WriteError, match="exists already"):
        check_place(place, overwrite=False)
    np.testing.assert_array_equal(read(place), slices())


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_whose_making_was_cut_short_is_no_hindrance(tmp_path, tall, name):
    place = tmp_path / name
    (tmp_path / f".{name}.new").mkdir()
    discard_volume(create_volume(place, tall))
    assert [path.name for path in tmp_path.iterdir()] == ["scan.nx"]
    partial_path(place).mkdir()
    with pytest.raises(WriteError, match="cannot be continued"):
        read_unfinished(place)


def test_a_bigtiff_is_an_hdf5_file_too(tmp_path, tall):
    place = tmp_path / "volume.tif"
    target = create_volume(place, tall)
    write_slab(target, 10, slices())
    finish_volume(place, target, RECORDS)
    with h5py.File(place) as file, tifffile.TiffFile(place) as tiff:
        np.testing.assert_array_equal(file[DATASET][:], slices())
        assert tiff.is_bigtiff
        assert len(tiff.pages) == ROWS
        page = tiff.pages[5]
        assert page.tags["XResolution"].value == (5000, 1)  # of 2 um, in a centimetre
        assert json.loads(page.description)["units"] == "1/cm"


def test_the_zarr_says_where_it_is_and_how_large(tmp_path, tall):
    place = tmp_path / "volume.zarr"
    greys = Greys(dtype="uint16", low=-1, high=3)
    target = create_volume(place, replace(tall, greys=greys))
    write_slab(target, 10, slices())
    finish_volume(place, target, RECORDS)
    group = zarr.open_group(place, mode="r", zarr_format=3)
    ome = group.attrs["ome"]
    assert ome["version"] == "0.5"
    scale, move = ome["multiscales"][0]["datasets"][0]["coordinateTransformations"]
    assert scale["scale"] == [2e-6] * 3
    assert move["translation"] == pytest.approx([2e-5, -4e-6, -3e-6])
    array = group["0"]
    assert array.shards == (16, 5, 4)
    assert array.attrs["scale_factor"] == greys.step
    assert array.metadata.dimension_names == ("z", "y", "x")
