"""Whatever of an unfinished volume is spoiled is put right, made again or refused: never a wrong volume."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import tifffile
import zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.errors import WriteError
from runner.tomo.volume.claim import claimed
from runner.tomo.volume.content import ChunkRecord
from runner.tomo.volume.forms import create_volume, finish_volume, lay_out_again, sweep
from runner.tomo.volume.greys import Greys
from runner.tomo.volume.hdf5 import note_end
from runner.tomo.volume.place import DESCRIPTION, partial_path
from runner.tomo.volume.resume import check_same, read_unfinished, take_over
from runner.tomo.volume.slab import rows_to_make, write_slab
from runner.tomo.volume.spare import spare_path

ROWS = 19  # a shard of zarr and a part of one
FORMS = ["volume.h5", "volume.tif", "volume.zarr", "volume.h5d", "volume"]
RECORDS = [ChunkRecord(first_row=10, end_row=10 + ROWS, worker="tcp://a", begun=0.0, seconds={"read": 0.5})]
OF_A_RUN = ("entry/entry_identifier_uuid", "entry/end_time")


@pytest.fixture
def small(content):
    return replace(content, shape=(ROWS, 5, 4), greys=Greys(dtype="uint8", low=-1, high=2))


@pytest.fixture(params=FORMS)
def name(request):
    return request.param


def slices():
    return np.random.default_rng(3).normal(size=(ROWS, 5, 4)).astype(np.float32)


def all_of(volume):
    """Read everything that a program may read of a volume, but what differs between two runs."""
    found = {}

    def look(name, item):
        found.update({f"{name}@{key}": np.asarray(value).tolist() for key, value in item.attrs.items()})
        if isinstance(item, h5py.Dataset) and name not in OF_A_RUN:
            found[name] = np.asarray(item[()]).tolist()

    with h5py.File(volume / DESCRIPTION if volume.is_dir() else volume) as file:
        file.visititems(look)
    if volume.suffix == ".zarr":
        group = zarr.open_group(volume, mode="r")
        found |= {"zarr": group["0"][:].tolist(), "ome": dict(group.attrs), "of": dict(group["0"].attrs)}
    elif volume.suffix not in (".h5", ".h5d"):
        files = sorted(volume.glob("*.tif")) if volume.is_dir() else [volume]
        found["tiff"] = [
            (page.description, page.asarray().tolist())
            for path in files
            for page in tifffile.TiffFile(path).pages
        ]
    return found


def begin(volume, content):
    """Begin a volume; three of its slices are not made."""
    target = create_volume(volume, content)
    write_slab(target, 10, slices()[:11])
    write_slab(target, 24, slices()[14:])
    return target


def go_on(volume, content):
    """Do what a run does that finds a volume that was begun; return the rows that it made."""
    found = read_unfinished(volume)
    check_same(found, content)
    target = take_over(found)
    lay_out_again(volume, content)
    rows = rows_to_make(target, 10, 10 + ROWS)
    for row in rows:
        write_slab(target, row, slices()[row - 10 : row - 9])
    finish_volume(volume, target, RECORDS)
    return rows


@pytest.fixture
def expected(tmp_path, small, name):
    volume = tmp_path / "undisturbed" / name
    volume.parent.mkdir()
    target = create_volume(volume, small)
    write_slab(target, 10, slices())
    finish_volume(volume, target, RECORDS)
    return all_of(volume)


def files_of(volume):
    """List the files of an unfinished volume, its copy of the description included."""
    partial = partial_path(volume)
    return sorted(path for path in (*partial.rglob("*"), partial, spare_path(partial)) if path.is_file())


def flip(path, place):
    with path.open("r+b") as file:
        byte = os.pread(file.fileno(), 1, place // 8)[0]
        os.pwrite(file.fileno(), bytes([byte ^ 1 << place % 8]), place // 8)


def spoil(path, how, share):
    """Spoil a file somewhere, or all of it."""
    size = path.stat().st_size
    place = int(share * size)
    if how == "cut":
        os.truncate(path, place)
    elif how == "lengthen":
        with path.open("ab") as file:
            file.write(b"\xff" * (1 + place))
    elif how == "blank":
        with path.open("r+b") as file:
            os.pwrite(file.fileno(), bytes(min(4096, size - place)), place)
    elif how == "lose":
        path.unlink()
    elif size:
        flip(path, int(share * 8 * size))


HOW = ["flip", "flip", "flip", "cut", "lengthen", "blank", "lose"]
SHARES = st.floats(0, 1, exclude_max=True)
SPOILED = st.lists(st.tuples(st.integers(0, 99), st.sampled_from(HOW), SHARES), min_size=1, max_size=3)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SPOILED)
def test_anything_spoiled_anywhere(small, name, expected, spoiled):
    with tempfile.TemporaryDirectory() as folder:
        volume = Path(folder) / name
        begin(volume, small)
        files = files_of(volume)
        for number, how, share in spoiled:
            path = files[number % len(files)]
            if path.exists():
                spoil(path, how, share)
        if not partial_path(volume).exists():
            assert read_unfinished(volume) is None
            return
        try:
            rows = go_on(volume, small)
        except WriteError as error:
            refusal = str(error)
        else:
            assert {21, 22, 23} <= set(rows)
            assert all_of(volume) == expected
            return
    assert "cannot be continued" in refusal


def test_killed_while_the_end_is_noted(tmp_path, small, name, expected):
    volume = tmp_path / name
    target = begin(volume, small)
    write_slab(target, 10, slices())
    before = target.path.read_bytes()
    note_end(target.path, RECORDS)
    after = target.path.read_bytes()
    assert len(after) > len(before)
    changed = [place for place in range(0, len(before), 512) if before[place:][:512] != after[place:][:512]]
    assert changed
    for some in (changed, changed[::2], changed[1::2]):  # what has reached the disk, of what HDF5 wrote
        with target.path.open("r+b") as file:
            for place in some:
                os.pwrite(file.fileno(), after[place : place + 512], place)
        read_unfinished(volume)
        assert target.path.read_bytes() == before
        target.path.write_bytes(after)
    assert go_on(volume, small) == []
    assert all_of(volume) == expected


def test_a_file_of_the_pixels_that_is_gone_is_made_again(tmp_path, small, expected, name):
    volume = tmp_path / name
    target = begin(volume, small)
    if target.files is None:
        pytest.skip("has one file only")
    (target.folder / target.files.name(2)).unlink()
    assert 12 in go_on(volume, small)
    assert all_of(volume) == expected


def test_without_its_copy_nothing_is_believed(tmp_path, small, name):
    volume = tmp_path / name
    spare_path(begin(volume, small).path).unlink()
    with pytest.raises(WriteError, match=r"cannot be continued: .* damaged beyond repair; say --overwrite"):
        read_unfinished(volume)


def test_what_a_kill_right_after_the_end_has_left_is_swept(tmp_path, small, name):
    volume = tmp_path / name
    target = begin(volume, small)
    write_slab(target, 10, slices())
    copy = spare_path(target.path).read_bytes()
    finish_volume(volume, target, RECORDS)
    files = sorted(tmp_path.rglob("*"))
    spare_path(volume / DESCRIPTION if volume.is_dir() else partial_path(volume)).write_bytes(copy)
    volume.with_name(f".{name}.lock").touch()
    with claimed(volume):
        sweep(volume)  # somebody is at work there
        assert len(sorted(tmp_path.rglob("*"))) == len(files) + 2
    volume.with_name(f".{name}.lock").touch()
    sweep(volume)
    assert sorted(tmp_path.rglob("*")) == files


def test_a_volume_that_is_being_replaced_keeps_its_copy(tmp_path, small, name):
    volume = tmp_path / name
    target = begin(volume, small)
    write_slab(target, 10, slices())
    finish_volume(volume, target, RECORDS)
    begin(volume, small)
    sweep(volume)
    assert {21, 22, 23} == set(go_on(volume, small))
