"""Ways to spoil a scan, and the command that looks at it."""

import textwrap

import h5py
import numpy as np
from click.testing import CliRunner

from runner.errors import RunnerError
from runner.jobs.check import command

DATA = "entry/instrument/detector/data"
KEYS = "entry/instrument/detector/image_key"
ANGLES = "entry/sample/rotation_angle"


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


def without(folder, line):
    return line.replace(f"{folder}/", "")


def check(*args):
    """Run the command as from a shell: (exit code, lines)."""
    result = CliRunner().invoke(command, [str(arg) for arg in args])
    if isinstance(result.exception, RunnerError):
        return result.exception.exit_code, result.output.splitlines()
    assert result.exception is None, result.exception
    return result.exit_code, result.output.splitlines()
