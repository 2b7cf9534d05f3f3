"""What the angles and the rotation axis make of a scan: half or full field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.errors import ScanError
from runner.tomo.reconstruct.geometry import Geometry

_OFFSET = 0.1  # of the columns: an axis further from the middle was put there on purpose
_CENTRED = 1.0  # columns: no ray is seen from one side only that matters


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquisition:
    """How a scan was taken, as far as a reconstruction has to know.

    Attributes
    ----------
    half : bool
        The slice is to show all that a full turn saw, twice as wide as the longer side of the axis.
    blended : bool
        In a full turn, rays are seen from both sides near the axis, and from one side beyond: each view
        counts accordingly. Always so for `half`.
    size : int
        Pixels along both sides of a slice.
    extent : int
        Columns of a detector with the axis in its middle that sees as much.
    seen : int
        The same, but always of what this detector sees at all, from whatever side.
    may_be_half : bool
        With the axis elsewhere, `half` might hold.
    """

    half: bool
    blended: bool
    size: int
    extent: int
    seen: int
    may_be_half: bool


def acquisition_of(
    angles: Sequence[float], columns: int, center: float | None, field: str = "auto"
) -> Acquisition:
    """Decide how a scan was taken.

    A full turn about an axis that lies more than a tenth of the columns off the middle is a half acquisition
    (a full turn because of the offset); about any other axis it shows the full field.

    Parameters
    ----------
    angles : sequence of float
        Degrees.
    columns : int
        Of the detector.
    center : float or None
        Column of the rotation axis; the middle if not known yet.
    field : {"auto", "full", "half"}
        What was asked for.

    Raises
    ------
    ScanError
        If half acquisition was asked for, and the angles are no full turn.
    """
    middle = (columns - 1) / 2
    center = middle if center is None else center
    geometry = Geometry(
        angles=tuple(angles), columns=columns, size=columns, center=center, half_acquisition=True
    )
    if field == "half" and not geometry.full_turn:
        span = max(angles) - min(angles)
        raise ScanError(
            f"half acquisition needs a full turn, and the angles span {span:.5g} degrees",
            "leave --field-of-view at auto, or say full",
        )
    offset = abs(center - middle)
    half = field == "half" or (field == "auto" and geometry.full_turn and offset > _OFFSET * columns)
    blended = half or (geometry.full_turn and offset > _CENTRED)
    return Acquisition(
        half=half,
        blended=blended,
        size=geometry.extent if half else columns,
        extent=geometry.extent if blended else columns,
        seen=geometry.extent,
        may_be_half=field != "full" and geometry.full_turn,
    )
