"""Scans that are refused: all that is wrong is said at once, and nothing is written."""

import h5py
import numpy as np
import pytest

from runner.errors import RunnerError
from runner.tomo.pipeline import reconstruct
from runner.tomo.settings import Settings

from .bad_scans import (
    ANGLES,
    angles_with,
    check,
    compress_strangely,
    join_elsewhere,
    lines,
    link_elsewhere,
    never_written,
    put,
    put_quantity,
    set_angles,
    set_frames,
    set_keys,
    without,
)

REFUSED = {
    "angles one short": (
        set_angles(lambda angles: angles[:-1]),
        lines("""
            error: /entry/sample/rotation_angle of scan.nx has 54 angles, but there are 55
              frames; each frame needs one, flats and darks too
        """),
    ),
    "data five frames short": (
        set_frames(lambda frames: frames[:-5]),
        lines("""
            error: /entry/instrument/detector of scan.nx: image_key has 55 values, but data has
              50 frames; the scan was probably aborted: cut them to the frames that belong
              together
            error: /entry/sample/rotation_angle of scan.nx has 55 angles, but there are 50
              frames; each frame needs one, flats and darks too
        """),
    ),
    "frames that were never written": (
        never_written,
        lines("""
            error: frames that were never written to the file: 5; the scan was probably aborted:
              cut it to the frames that are there
        """),
    ),
    "a link to a file that is gone": (
        link_elsewhere,
        lines("""
            error: the file gone.h5 is missing, which /entry/instrument/detector/data of scan.nx links to;
              put it there, or mend the link
        """),
    ),
    "a virtual dataset whose source is gone": (
        join_elsewhere,
        lines("""
            error: the file gone.h5 is missing, of which the virtual dataset /entry/instrument/detector/data
              of scan.nx is made; put it there: its frames would be read as zeros
        """),
    ),
    "a filter that is not installed": (
        compress_strangely,
        lines("""
            error: /entry/instrument/detector/data of scan.nx is compressed with the HDF5 filter 32767, which
              is not installed; install it
        """),
    ),
    "an angle that is NaN": (
        angles_with(20, np.nan),
        lines("""
            error: /entry/sample/rotation_angle of scan.nx: 1 of 40 angles are not finite, the
              first is that of projection 10; correct them, or mark those frames invalid
              (image_key 3)
        """),
    ),
    "radians that are called degrees": (
        set_angles(np.deg2rad),
        lines("""
            error: /entry/sample/rotation_angle of scan.nx: the angles span 3.063 degrees only
              (units 'degree'), they look like radians; set the attribute 'units' of that
              dataset to 'rad' if they are
        """),
    ),
    "degrees that are called radians": (
        set_angles(lambda angles: angles, "rad"),
        lines("""
            error: /entry/sample/rotation_angle of scan.nx: the angles span 27.93 turns (units
              'rad'), they look like degrees; set the attribute 'units' of that dataset to
              'degree' if they are
        """),
    ),
    "no angles": (
        lambda file: file.pop(ANGLES),
        lines("""
            error: /entry of scan.nx has no sample/rotation_angle; give the angles as --angles
              A:B:N
        """),
    ),
    "no flats": (
        set_keys(at_5_10=3, at_50_55=3),
        lines("""
            error: scan.nx has no flats (40 projections, 0 flats, 5 darks); name frames taken
              without the sample with --flats; or say --no-flats, if the projections are
              transmissions, or have air at both sides (--air)
        """),
    ),
    "no darks, and energy in metres": (
        lambda file: (
            set_keys(at_0_5=3)(file),
            put_quantity("entry/instrument/beam/incident_energy", 20.0, "m")(file),
        ),
        lines("""
            error: /entry/instrument/beam/incident_energy of scan.nx has units 'm'; known are
              ev, kev, mev, j; correct its attribute 'units'
            error: scan.nx has no darks (40 projections, 10 flats, 0 darks); name frames taken
              without the beam with --darks; or say --no-darks, if the detector has no dark
              signal
        """),
    ),
    "flats and darks exchanged": (
        set_keys(at_0_5=1, at_5_10=2, at_50_55=2),
        lines("""
            error: the flats (mean 100) are no brighter than the darks (34504); they are
              probably exchanged: name them with --flats and --darks
        """),
    ),
    "a shutter that stayed closed": (
        set_frames(lambda frames: put(frames, slice(10, 50), 100)),
        lines("""
            error: the projections (mean 100) are no brighter than the darks (100); look whether
              the shutter was open, and which frames are which
        """),
    ),
    "a quarter of the frames lost": (
        set_frames(lambda frames: put(frames, slice(20, 30), 0)),
        lines("""
            error: empty projections: 10 of 40 (number 10, 11, 12 and 7 more); record the scan
              again, or cut it to the frames that are there
        """),
    ),
    "half of the darks with beam": (
        set_frames(lambda frames: put(frames, slice(0, 2), frames[5])),
        lines("""
            error: darks that look like flats: 2 of 5; look which frames are which, and name
              them anew
        """),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_scan_is_refused_with_all_that_is_wrong_and_nothing_is_written(scan, tmp_path, client, name):
    change, lines = REFUSED[name]
    with h5py.File(scan, "a") as file:
        change(file)
    code, said = check(scan)
    assert [without(tmp_path, line) for line in said if line.startswith("error:")] == lines
    assert code == 65
    before = sorted(tmp_path.iterdir())
    notes = []
    with pytest.raises(RunnerError) as refusal:
        reconstruct(
            tmp_path / scan, tmp_path / "volume.h5", Settings(center=24.5), client, on_note=notes.append
        )
    assert refusal.value.exit_code == (66 if "gone" in name else 65)
    if len(lines) == 1:
        assert without(tmp_path, f"error: {refusal.value}") == lines[0]
    else:
        assert [without(tmp_path, note) for note in notes if note.startswith("error")] == lines
        assert str(refusal.value).startswith(f"{len(lines)} things are wrong with ")
    assert sorted(tmp_path.iterdir()) == before
