"""Numbers with a ``units`` attribute, in the units in which we keep them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import h5py
import numpy as np

from runner.errors import ScanError
from runner.tomo.scan.hdf5 import attribute, find, name_of

METRES: Mapping[str, float] = {
    **dict.fromkeys(("m", "metre", "meter", "metres", "meters"), 1.0),
    **dict.fromkeys(("cm", "centimetre", "centimeter"), 1e-2),
    **dict.fromkeys(("mm", "millimetre", "millimeter", "millimetres", "millimeters"), 1e-3),
    **dict.fromkeys(("um", "µm", "μm", "micron", "microns", "micrometre", "micrometer"), 1e-6),
    **dict.fromkeys(("micrometres", "micrometers"), 1e-6),
    **dict.fromkeys(("nm", "nanometre", "nanometer", "nanometres", "nanometers"), 1e-9),
}
KILOELECTRONVOLTS: Mapping[str, float] = {"ev": 1e-3, "kev": 1.0, "mev": 1e3, "j": 1 / 1.602176634e-16}
_DEGREES: Mapping[str, float] = {
    **dict.fromkeys(("deg", "degs", "degree", "degrees", "°"), 1.0),
    **dict.fromkeys(("rad", "rads", "radian", "radians"), math.degrees(1)),
    **dict.fromkeys(("mrad", "milliradian", "milliradians"), math.degrees(1e-3)),
}


def first_quantity(
    group: h5py.Group, paths: tuple[str, ...], scales: Mapping[str, float], *, default: str
) -> float | None:
    """Read the first of several scalars that is there, finite and positive.

    Parameters
    ----------
    group : h5py.Group
        Where the paths start.
    paths : tuple of str
        Names to try, the best first.
    scales : mapping of str to float
        Factor for each unit, in lower case: :data:`METRES`, :data:`KILOELECTRONVOLTS`.
    default : str
        The unit where the file does not say.

    Raises
    ------
    ScanError
        If the units are none of `scales`.
    """
    for path in paths:
        found = find(group, path) if group.get(path, getlink=True) is not None else None
        if not isinstance(found, h5py.Dataset) or found.size == 0 or found.dtype.kind not in "iuf":
            continue
        value = float(np.ravel(found[()])[0])
        if math.isfinite(value) and value > 0:
            return value * _scale(attribute(found, "units"), name_of(found), scales, default)
    return None


def degrees_per_unit(units: str, source: str) -> float:
    """Degrees in one unit of angles that come from `source`; without units they are degrees.

    Raises
    ------
    ScanError
        If the units are not of an angle.
    """
    return _scale(units, source, _DEGREES, "degree")


def _scale(units: str, source: str, scales: Mapping[str, float], default: str) -> float:
    unit = units.strip() or default
    if unit.lower() not in scales:
        raise ScanError(
            f"{source} has units {unit!r}; known are {', '.join(scales)}", "correct its attribute 'units'"
        )
    return scales[unit.lower()]
