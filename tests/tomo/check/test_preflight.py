"""Small bad files, one for each thing that goes wrong with scans: the exact lines, and nothing written."""

import shutil
import textwrap
from pathlib import Path

import h5py
import numpy as np
import pytest
from click.testing import CliRunner

from runner.errors import RunnerError
from runner.jobs.check import command
from runner.tomo.check import checked_scan, inspect
from runner.tomo.pipeline import reconstruct
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan

DATA = "entry/instrument/detector/data"
KEYS = "entry/instrument/detector/image_key"
ANGLES = "entry/sample/rotation_angle"


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A scan of 5 darks, 5 flats, 40 projections over 180 degrees, and 5 flats, 12 x 48 pixels."""
    path = tmp_path_factory.mktemp("good") / "scan.nx"
    write_scan(path, Simulation(rows=12, columns=48, angles=40, flats=5, darks=5, center=24.5, noise=False))
    return path


@pytest.fixture
def scan(good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return shutil.copy(good, "scan.nx")


def replaced(file, name, values, **attributes):
    old = dict(file[name].attrs)
    del file[name]
    file[name] = values
    file[name].attrs.update(old | attributes)


def set_angles(change, units="degree"):
    def edit(file):
        replaced(file, ANGLES, change(file[ANGLES][:]), units=units)

    return edit


def set_keys(**changes):
    def edit(file):
        keys = file[KEYS][:]
        for place, key in changes.items():
            first, _, end = place.removeprefix("at_").partition("_")
            keys[int(first) : int(end or int(first) + 1)] = key
        replaced(file, KEYS, keys)

    return edit


def set_frames(change):
    def edit(file):
        frames = file[DATA][:]
        replaced(file, DATA, change(frames))

    return edit


def put(frames, place, value):
    frames[place] = value
    return frames


def angles_with(place, value):
    return set_angles(lambda angles: put(angles, place, value))


def put_quantity(name, value, units):
    def edit(file):
        if name in file:
            del file[name]
        file[name] = value
        if units:
            file[name].attrs["units"] = units

    return edit


def never_written(file):
    frames = file[DATA][:]
    del file[DATA]
    stored = file.create_dataset(DATA, frames.shape, frames.dtype, chunks=(1, 12, 48))
    stored[:50] = frames[:50]


def link_elsewhere(file):
    del file[DATA]
    file[DATA] = h5py.ExternalLink("gone.h5", "/frames")


def join_elsewhere(file):
    layout = h5py.VirtualLayout(file[DATA].shape, file[DATA].dtype)
    layout[:] = h5py.VirtualSource("gone.h5", "frames", file[DATA].shape)
    del file[DATA]
    file.create_virtual_dataset(DATA, layout)


def compress_strangely(file):
    frames = file[DATA][:]
    del file[DATA]
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(frames.shape)
    plist.set_filter(32767, h5py.h5z.FLAG_OPTIONAL)
    space = h5py.h5s.create_simple(frames.shape)
    detector = file["entry/instrument/detector"].id
    data = h5py.h5d.create(detector, b"data", h5py.h5t.NATIVE_FLOAT, space, dcpl=plist)
    data.write_direct_chunk((0, 0, 0), frames.tobytes())


def spoil_pixels(frames):
    frames[:, 3, 4], frames[:5, 5, 6], frames[10, 6, 7] = 0, 30000, np.nan
    return frames


def turn_over(file):
    """Give the scan its first angle again as its last, 180 degrees later."""
    frames, keys, angles = (file[name][:] for name in (DATA, KEYS, ANGLES))
    last = int(np.flatnonzero(keys == 0)[-1]) + 1
    replaced(file, DATA, np.insert(frames, last, frames[10, :, ::-1], axis=0))
    replaced(file, KEYS, np.insert(keys, last, 0))
    replaced(file, ANGLES, np.insert(angles, last, 180.0))


def lines(text):
    """Split a text into lines, of which those that stand further right go on with the one before."""
    return textwrap.dedent(text).strip().replace("\n  ", " ").splitlines()


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
            error: scan.nx has no flats (40 projections, 0 flats, 5 darks); add frames taken
              without the sample, or name them with --flats
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
            error: scan.nx has no darks (40 projections, 10 flats, 0 darks); add frames taken
              without the beam, or name them with --darks; if the detector has no dark signal,
              one of zeros
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


def without(folder, line):
    return line.replace(f"{folder}/", "")


def check(*args):
    """Run the command as from a shell: (exit code, lines)."""
    result = CliRunner().invoke(command, [str(arg) for arg in args])
    if isinstance(result.exception, RunnerError):
        return result.exception.exit_code, result.output.splitlines()
    assert result.exception is None, result.exception
    return result.exit_code, result.output.splitlines()


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
    "dead, hot and blind pixels": (
        set_frames(spoil_pixels),
        lines("""
            note: pixels that see no beam (dead): 1 of 576; each is interpolated in its row
            note: pixels that are bright without beam (hot): 1 of 576; they count as they are
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
        ),
        lines("""
            warning: the detector's left and right are exchanged (x_flipped): the volume will be
              a mirror image; mirror it afterwards, if the hand of the object matters
            note: the scan says that its field of view is half: the axis is near one end of it
            note: the scan says that the rotation axis is at column 24.75; give it with --center
              to use it
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
