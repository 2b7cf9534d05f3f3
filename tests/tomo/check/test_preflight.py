"""Small bad files, one for each thing that goes wrong with scans: the exact lines, and nothing written."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from runner.tomo.check import checked_scan, inspect

from .bad_scans import (
    ANGLES,
    DATA,
    angles_with,
    check,
    lines,
    put,
    put_quantity,
    replaced,
    set_angles,
    set_frames,
    set_keys,
    spoil_pixels,
    turn_over,
)

TOLD = {
    "nothing": (lambda file: None, []),
    "radians without units": (
        lambda file: (set_angles(np.deg2rad)(file), file[ANGLES].attrs.pop("units")),
        lines("""
            warning: /entry/sample/rotation_angle of scan.nx: the angles span 3.063 and have no
              units: they are taken for radians; set the attribute 'units' of that dataset
        """),
    ),
    "radians": (set_angles(np.deg2rad, "rad"), []),
    "a lost frame": (
        set_frames(lambda frames: put(frames, 20, 0)),
        lines("""
            warning: empty projections: 1 of 40 (number 10); they are left out
        """),
    ),
    "a dark with beam, and two flats without": (
        set_frames(lambda frames: put(put(frames, 1, frames[5]), [5, 52], 100)),
        lines("""
            warning: flats that look like darks: 2 of 10; they are left out
            warning: darks that look like flats: 1 of 5; they are left out
        """),
    ),
    "the same view at 0 and 180 degrees": (
        turn_over,
        lines("""
            note: projections 0 and 40 show the same, at 0 and 180 degrees; each of them counts
              half
        """),
    ),
    "an angle twice": (
        angles_with(20, 40.5),
        lines("""
            warning: projections with the very angle of another one: 1; they share the weight of
              one view; look whether the rotation stood still
        """),
    ),
    "an angle out of order": (
        angles_with(20, 20.0),
        lines("""
            warning: the angle goes back after projection 9, from 40.5 to 20 degrees; look
              whether those angles are right
        """),
    ),
    "interlaced angles": (
        set_angles(lambda angles: put(angles, slice(10, 50), np.r_[angles[10:50:2], angles[11:50:2]])),
        lines("""
            note: the angles are not in order: 1 of 39 steps go back; every projection is used
              at its own angle
        """),
    ),
    "less than half a turn": (
        set_angles(lambda angles: angles / 2),
        lines("""
            warning: the angles span 87.75 degrees only, less than half a turn; the volume will
              lack what is seen from the missing sides
        """),
    ),
    "a gap": (
        set_angles(lambda angles: angles + 20 * (angles > 90)),
        lines("""
            warning: gaps between the angles: 1, the widest of 24.5 degrees after 90 degrees;
              look whether projections are missing
        """),
    ),
    "fewer projections than a half": (
        set_keys(at_30_50=3),
        lines("""
            warning: the angles span 85.5 degrees only, less than half a turn; the volume will
              lack what is seen from the missing sides
            note: views from 20 directions are few for 48 columns: 76 would show all alike;
              expect streaks farther than 6 columns from the axis
        """),
    ),
    "three projections": (
        lambda file: (
            set_keys(at_13_50=3)(file),
            set_angles(lambda angles: put(angles, slice(10, 13), [0, 60, 120]))(file),
        ),
        lines("""
            warning: views from 3 directions are few for 48 columns: 76 would show all alike;
              expect streaks farther than 1 columns from the axis
        """),
    ),
    "dead, hot and blind pixels": (
        set_frames(spoil_pixels),
        lines("""
            note: pixels that see no beam (dead): 1 of 576; each is interpolated in its row
            note: pixels that are bright without beam (hot): 1 of 576; each is
              interpolated in its row
            note: pixels that are not finite, of those looked at: 1 of 5760; each is
              interpolated in its row
        """),
    ),
    "projections brighter than the flats": (
        set_frames(lambda frames: put(frames, slice(10, 50), frames[10:50] * 2)),
        lines("""
            warning: the projections are 1.26 times as bright as the flats; look whether the
              flats are of this scan, with this exposure time
        """),
    ),
    "units that nobody has": (
        lambda file: (
            put_quantity("entry/instrument/beam/incident_energy", 22500.0, None)(file),
            put_quantity("entry/instrument/detector/x_pixel_size", 6.5, None)(file),
            put_quantity("entry/sample/x_pixel_size", 6.5, None)(file),
            put_quantity("entry/instrument/detector/distance", 4000.0, None)(file),
        ),
        lines("""
            warning: the pixel size of 6.5 m is not plausible; it is not used: correct it, or
              its attribute 'units'
            warning: the energy of 22500 keV is not plausible; it is not used: correct it, or
              its attribute 'units'
            warning: the distance of 4000 m is not plausible; it is not used: correct it, or its
              attribute 'units'
        """),
    ),
    "what the detector says about itself": (
        lambda file: (
            put_quantity("entry/instrument/detector/x_rotation_axis_pixel_position", 1.25, "pixel")(file),
            put_quantity("entry/instrument/detector/field_of_view", "Half", None)(file),
            put_quantity("entry/instrument/detector/x_flipped", True, None)(file),
            put_quantity("entry/instrument/detector/y_flipped", True, None)(file),
        ),
        lines("""
            warning: the detector's top and bottom are exchanged (y_flipped): the volume will be
              a mirror image; reverse the order of its slices, if the hand of the object matters
            note: the scan says that its field of view is half: the axis is near one end of it
            note: the detector's left and right are exchanged (x_flipped): slices will be turned
              by half a turn; that is no mirror image
            note: the scan says that the rotation axis is at column 24.75; what is found is held
              against it; --center uses it
        """),
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_can_be_helped_is_told(scan, name):
    change, lines = TOLD[name]
    with h5py.File(scan, "a") as file:
        change(file)
    code, said = check(scan)
    assert [line for line in said if line.startswith(("error:", "warning:", "note:"))] == lines
    assert (code, said[-1]) == (0, "it can be reconstructed")


def test_saturated_pixels_are_counted(scan):
    with h5py.File(scan, "a") as file:
        counts = file[DATA][:].astype(np.uint16)
        counts[10:50, 6, :10] = 65535
        replaced(file, DATA, counts)
    assert any(
        line.startswith("warning: saturated pixels, of those looked at: 400 of 5760")
        for line in check(scan)[1]
    )


def test_the_summary_names_what_there_is(scan):
    said = dict(line.split(maxsplit=1) for line in check(scan)[1])
    assert said["scan"] == "scan.nx  entry"
    assert said["projections"] == "40 of 12 x 48 pixels, float32"
    assert said["angles"] == "0 to 175.5 degrees, in steps of 4.5"
    assert said["flats"] == "5 at the start, 5 at the end"
    assert said["darks"] == "5 at the start"


def test_a_scan_that_is_not_there_has_a_code_of_its_own(tmp_path):
    assert check(tmp_path / "none.nx")[0] == 66


@pytest.mark.parametrize("keep", [0.8, 0.0])
def test_a_truncated_file_is_one_line(scan, keep):
    content = Path(scan).read_bytes()
    Path(scan).write_bytes(content[: int(len(content) * keep)])
    code, said = check(scan)
    assert (code, len(said)) == (65, 1)
    assert said[0].startswith("error: scan.nx is truncated" if keep else "error: scan.nx is not an HDF5 file")


def test_a_lost_frame_changes_nothing_but_itself(scan):
    """The other frames keep their angles and their flats."""
    clean = checked_scan_of(scan)
    with h5py.File(scan, "a") as file:
        set_frames(lambda frames: put(frames, 20, 0))(file)
    mended = checked_scan_of(scan)
    assert mended.projections.count == 39
    assert np.array_equal(mended.angles, np.delete(clean.angles, 10))
    assert np.array_equal(mended.projections.indices, np.delete(clean.projections.indices, 10))
    assert [group.position for group in mended.flats] == [0, 39]


def checked_scan_of(path):
    return checked_scan(Path(path))


def test_the_real_scans_are_good(shared_data):
    for name in ("scans/tooth_nxtomo.nx", "scans/savu24737_nxtomo.nx", "formats/k11_diad/k11-18014.nxs"):
        found = inspect(shared_data / name)
        assert not [finding for finding in found.findings if finding.level != "note"]
