"""What must hold for the rotation angles of any scan."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo.scan.finding import Problems, warning
from runner.tomo.scan.quantities import degrees_per_unit

_TURN = 2 * math.pi
_MOST_RADIANS = _TURN * 1.01  # a scan in degrees spans far more, one in radians at most a turn and a little
_LEAST_RADIANS = math.pi * 0.9  # about half a turn
_MOST_DEGREES = 20 * 360.0  # degrees that are called radians become ten turns for half a one


def in_degrees(
    values: NDArray[np.float64], *, source: str, units: str, problems: Problems
) -> NDArray[np.float64]:
    """Convert the angles of the projections, and gather what is wrong with them.

    The units that the file states are honoured. Where it states none, angles that span between half a turn
    and one of radians, which are no scan in degrees, are taken for radians; that is said.

    Parameters
    ----------
    values : (angle,) float64
        One for each projection, as stored.
    source : str
        Where they come from, for the messages.
    units : str
        The units that the file states for them; empty if none.
    problems : Problems
        Takes what is wrong or worth a word.

    Returns
    -------
    (angle,) float64 ndarray
        Degrees.
    """
    finite = values[np.isfinite(values)]
    span = float(np.ptp(finite)) if len(finite) else 0.0
    if not units and _LEAST_RADIANS <= span <= _MOST_RADIANS:
        problems.findings.append(
            warning(
                f"{source}: the angles span {span:.4g} and have no units: they are taken for radians",
                "set the attribute 'units' of that dataset",
            )
        )
        units = "rad"
    scale = problems.attempt(degrees_per_unit, units, source)
    angles = values * (scale or 1.0)
    if scale is not None:
        problems.attempt(check_angles, angles, source=source, units=units)
    return angles


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
        If one is not finite, there is only one, or their span and their units do not fit.
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
    span = float(np.ptp(angles)) if len(angles) else 0.0
    stated = f"units {units!r}" if units else "no units"
    in_radians = units.lower().startswith(("rad", "mrad", "millirad"))
    if span < _MOST_RADIANS and not in_radians:
        raise ScanError(
            f"{source}: the angles span {span:.4g} degrees only ({stated}), they look like radians",
            "set the attribute 'units' of that dataset to 'rad' if they are",
        )
    if span > _MOST_DEGREES and in_radians:
        raise ScanError(
            f"{source}: the angles span {span / 360:.4g} turns ({stated}), they look like degrees",
            "set the attribute 'units' of that dataset to 'degree' if they are",
        )
