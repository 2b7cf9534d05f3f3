"""What must hold for the rotation angles of any scan."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError

# A scan in degrees spans far more, one in radians at most a turn and a little.
_SUSPECT_SPAN = 2 * math.pi * 1.01


def check_angles(angles: NDArray[np.float64], *, source: str, units: str) -> None:
    """Refuse angles with which no right volume can be made.

    Parameters
    ----------
    angles : (angle,) float64
        One for each projection, degrees.
    source : str
        Where they come from, for the message.
    units : str
        The units that the file states for them; empty if none.

    Raises
    ------
    ScanError
        If one is not finite, there is only one, or they look like radians that are not declared as such.
    """
    broken = np.flatnonzero(~np.isfinite(angles))
    if len(broken):
        raise ScanError(
            f"{source}: {len(broken)} of {len(angles)} angles are not finite, the first is that of"
            f" projection {broken[0]}",
            "correct them, or mark those frames invalid (image_key 3)",
        )
    if len(angles) == 1:
        raise ScanError(f"{source}: there is one projection only", "a slice needs views from all sides")
    span = float(np.ptp(angles))
    if span < _SUSPECT_SPAN and not units.lower().startswith(("rad", "mrad", "millirad")):
        stated = f"units {units!r}" if units else "no units"
        raise ScanError(
            f"{source}: the angles span {span:.4g} degrees only ({stated}), they look like radians",
            "set the attribute 'units' of that dataset to 'rad' if they are",
        )
