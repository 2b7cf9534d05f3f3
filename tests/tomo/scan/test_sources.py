"""A scan's parts are found wherever the user says that they are."""

import time

import h5py
import numpy as np
import pytest

from runner.errors import MissingFileError, ScanError, UsageError
from runner.tomo.scan import open_scan
from runner.tomo.scan.read import read_frames
from runner.tomo.sources import Sources, angle_range, places

from .conftest import ANGLES, KEYS, frames_of

ROWS = slice(0, 3)


def groups_of(groups):
    return [(group.frames.count, group.position) for group in groups]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0:180:1500", (0.0, 180.0, 1500)),
        (" -90 : 90.5 : 3 ", (-90.0, 90.5, 3)),
        ("360:0:10", (360.0, 0.0, 10)),
        ("angles.txt", None),
        ("file.h5::/a", None),
        ("a:b:3", None),
    ],
)
def test_ranges_of_angles_are_read(text, found):
    assert angle_range(text) == found


@pytest.mark.parametrize("text", ["0:0:10", "0:180:1", "0:inf:4"])
def test_ranges_without_meaning_are_refused(text):
    with pytest.raises(UsageError, match="FIRST:END:NUMBER"):
        angle_range(text)


@pytest.mark.parametrize(
    ("text", "kept"), [("::2", [4, 6]), ("1:", [5, 6, 7]), (":-1", [4, 5, 6]), ("1:3:1", [5, 6])]
)
def test_some_projections_are_used(write_nxtomo, text, kept):
    scan = open_scan(write_nxtomo(), Sources(subset=text))
    assert scan.projections.indices.tolist() == kept
    assert scan.angles.tolist() == [ANGLES[index] for index in kept]
    assert groups_of(scan.flats) == [(2, 0), (3, len(kept))]
    assert f"{len(kept)} of 4 projections are used" in scan.findings[0].what


@pytest.mark.parametrize("text", ["4", "a:b", "::0", "3:1:-1", "1:2:3:4"])
def test_subsets_without_meaning_are_refused(write_nxtomo, text):
    with pytest.raises(UsageError, match="write FIRST:END:STEP"):
        open_scan(write_nxtomo(), Sources(subset=text))


def test_a_subset_that_leaves_too_few_is_refused(write_nxtomo):
    with pytest.raises(ScanError, match="subset 9: leaves 0 of 4 projections"):
        open_scan(write_nxtomo(), Sources(subset="9:"))


def test_places_are_told_apart():
    assert places(None) == []
    assert places("/a, b.h5 ,c.h5::/d/e,") == [("", "/a"), ("b.h5", ""), ("c.h5", "/d/e")]


@pytest.fixture
def plain(tmp_path):
    """A file of no known form."""
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file["raw/stack"] = frames_of(4)
        file["flats"] = frames_of(3) + 500
        file["dark"] = frames_of(1)[0]
        file["theta"] = np.deg2rad([0, 60, 120, 180])
        file["theta"].attrs["units"] = "rad"
    return tmp_path / "plain.h5"


def test_plain_hdf5_opens_by_the_names_of_its_parts(plain):
    scan = open_scan(plain, Sources(projections="raw/stack", flats="/flats", darks="/dark", angles="/theta"))
    assert (scan.format, scan.entry, scan.projections.count) == ("hdf5", "/raw/stack", 4)
    assert scan.angles == pytest.approx([0, 60, 120, 180])
    assert groups_of(scan.flats) == [(3, 2)]
    assert groups_of(scan.darks) == [(1, 2)]
    assert np.array_equal(read_frames(scan.flats[0].frames, ROWS), frames_of(3) + 500)
    assert np.array_equal(read_frames(scan.darks[0].frames, slice(1, 2)), frames_of(1)[:, 1:2])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"projections": "/none"}, ScanError, "no dataset /none"),
        ({"flats": "/none"}, ScanError, "no /none of flats; name it as FILE::/PATH"),
        ({"flats": "none.h5"}, MissingFileError, "no such file or folder: none.h5"),
        ({"flats": "/theta"}, ScanError, "has shape"),
        ({"angles": None}, ScanError, "--angles A:B:N"),
        ({"angles": "0:180:5"}, ScanError, "5 angles are given, but .* has 4 projections"),
        ({"angles": "none.txt"}, MissingFileError, r"none\.txt"),
        ({"flats": None}, ScanError, "has no flats .4 projections, 0 flats, 1 darks.; .*--flats"),
    ],
)
def test_what_is_not_where_it_is_said_to_be_is_named(plain, given, error, words):
    right = {"projections": "raw/stack", "flats": "/flats", "darks": "/dark", "angles": "/theta"}
    with pytest.raises(error, match=words) as refusal:
        open_scan(plain, Sources(**right | given))
    assert "\n" not in str(refusal.value)


def test_frames_of_another_detector_are_refused(plain):
    with h5py.File(plain, "a") as file:
        file["wide"] = frames_of(2, (3, 9))
    with pytest.raises(ScanError, match=r"frames of \(3, 9\) pixels, but the projections have \(3, 8\)"):
        open_scan(plain, Sources(projections="raw/stack", flats="/wide", darks="/dark", angles="/theta"))


def test_theta_that_is_not_there_is_given(write_dxchange):
    path = write_dxchange(change=lambda group: group.pop("theta"))
    assert open_scan(path, Sources(angles="0:180:4")).angles.tolist() == [0, 45, 90, 135]
    with pytest.raises(ScanError, match=r"exchange/theta; give the angles as --angles A:B:N"):
        open_scan(path)


@pytest.mark.parametrize("name", ["angles.txt", "angles.csv", "angles.npy"])
def test_angles_come_from_files_of_numbers_beside_the_scan(write_nxtomo, tmp_path, name):
    path = write_nxtomo(angles=None)
    angles = np.array([10.0, 70.0, 130.0, 190.0])
    if name.endswith("npy"):
        np.save(tmp_path / name, angles)
    else:
        np.savetxt(tmp_path / name, angles)
    assert open_scan(path, Sources(angles=name)).angles.tolist() == angles.tolist()
    (tmp_path / name).write_text("ten\n")
    with pytest.raises(ScanError, match="cannot be read as numbers"):
        open_scan(path, Sources(angles=name))


def test_reduced_flats_and_darks_have_their_place_in_the_scan(write_nxtomo, tmp_path):
    """As nabu and tomwer write them: named by the number of the frame before which they were taken."""
    path = write_nxtomo(keys=[0 if key == 0 else 3 for key in KEYS])
    for kind, places_taken in (("flats", (3, 8)), ("darks", (0,))):
        with h5py.File(tmp_path / f"scan_{kind}.hdf5", "w") as file:
            for place in places_taken:
                file[f"entry/{kind}/{place}"] = np.full((3, 8), 100.0 + place, np.float32)
    with pytest.raises(ScanError, match="no flats"):
        open_scan(path)
    scan = open_scan(path, Sources(flats="scan_flats.hdf5", darks="scan_darks.hdf5"))
    assert groups_of(scan.flats) == [(1, 0), (1, 4)]
    assert groups_of(scan.darks) == [(1, 0)]
    assert (read_frames(scan.flats[1].frames, ROWS) == 108).all()


def test_the_only_stack_of_another_file_is_found(write_nxtomo, tmp_path):
    """As Diamond's separate flats and darks."""
    path = write_nxtomo()
    with h5py.File(tmp_path / "flat_field.h5", "w") as file:
        file["1-x-tomo/data"] = frames_of(6)
    scan = open_scan(path, Sources(flats="flat_field.h5"))
    assert groups_of(scan.flats) == [(6, 2)]
    with h5py.File(tmp_path / "flat_field.h5", "a") as file:
        file["other"] = frames_of(2)
    with pytest.raises(ScanError, match="no one dataset or group of flats"):
        open_scan(path, Sources(flats="flat_field.h5"))
    two = open_scan(path, Sources(flats="flat_field.h5::/other,flat_field.h5::1-x-tomo/data"))
    assert groups_of(two.flats) == [(2, 0), (6, 4)]


def test_all_that_is_wrong_is_counted_in_the_first_error(write_nxtomo):
    path = write_nxtomo(keys=[2] * 4 + [0] * 7, angles=ANGLES[:-1])
    with pytest.raises(ScanError, match=r"10 angles, but there are 11 frames.*\(1 more with runner check\)"):
        open_scan(path)


def test_the_axis_of_the_file_is_a_hint(write_nxtomo):
    def tell(group):
        group["instrument/detector/x_rotation_axis_pixel_position"] = -1.5

    assert open_scan(write_nxtomo(change=tell)).axis_hint == 2.0
    assert open_scan(write_nxtomo("other.nx")).axis_hint is None


def test_a_large_scan_opens_in_a_moment(tmp_path):
    """A file of 100 GB, but for the pixels."""
    path = tmp_path / "large.nx"
    count = 6000
    with h5py.File(path, "w") as file:
        group = file.create_group("entry")
        group["definition"] = "NXtomo"
        detector = group.create_group("instrument/detector")
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((count, 2048, 4096))
        h5py.h5d.create(detector.id, b"data", h5py.h5t.NATIVE_UINT16, space, dcpl=plist)
        detector["image_key"] = np.r_[np.full(10, 2), np.full(10, 1), np.zeros(count - 20, int)]
        group["sample/rotation_angle"] = np.linspace(0, 180, count)
    assert path.stat().st_size > 100e9
    begun = time.process_time()
    scan = open_scan(path)
    assert time.process_time() - begun < 1
    assert (scan.projections.count, scan.rows, scan.columns) == (count - 20, 2048, 4096)
