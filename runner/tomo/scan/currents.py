"""The storage ring's current, at each frame of an NXtomo scan."""

from __future__ import annotations

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.tomo.scan.finding import Problems, warning
from runner.tomo.scan.hdf5 import name_of

PLACES = (
    "control/data",  # NXtomo's own: a monitor of the beam
    "instrument/machine/current",
    "instrument/source/current",
)
_MOST_UNKNOWN = 0.5  # share of the frames


def ring_currents(group: h5py.Group, count: int, problems: Problems) -> NDArray[np.float64] | None:
    """Read the ring current at each frame, or another monitor of the beam.

    Values that are no positive number are interpolated between the frames around.

    Parameters
    ----------
    group : h5py.Group
        The entry.
    count : int
        How many frames there are.
    problems : Problems
        Takes what is worth a word.

    Returns
    -------
    (frame,) float64 ndarray, or None
        In the file's unit; None if there is no value for each frame.
    """
    for place in PLACES:
        stored = group.get(place)
        if not isinstance(stored, h5py.Dataset) or stored.size < 2 or stored.dtype.kind not in "iuf":
            continue
        values = np.ravel(stored[()]).astype(np.float64)
        known = np.isfinite(values) & (values > 0)
        if len(values) == count and known.mean() >= _MOST_UNKNOWN:
            frames = np.arange(count)
            return np.interp(frames, frames[known], values[known])
        what = f"{name_of(stored)} has {int(known.sum())} currents of the ring, but there are {count} frames"
        problems.findings.append(warning(what, "they are not used"))
    return None
