"""The rotation: which way it went, how far, and what was seen twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from runner.tomo.scan.finding import Finding, note, warning

_SAME = 0.25  # of a step: two directions are the same
_GAP = 3.0  # steps: something is missing between two projections


def check_turn(angles: NDArray[np.float64]) -> list[Finding]:
    """Look at the rotation angles.

    Parameters
    ----------
    angles : (angle,) float64
        Of each projection in the order in which they were taken, degrees, finite, at least two.
    """
    return [*_order(angles), *_span(angles), *_gaps(angles), *_repeated(angles)]


def ends_that_meet(angles: NDArray[np.float64]) -> tuple[int, int] | None:
    """Find the first and the last view of a scan that show the same: 0 and 180, or 0 and 360 degrees.

    Parameters
    ----------
    angles : (angle,) float64
        Degrees, in any order.

    Returns
    -------
    (int, int) or None
        Numbers of the projections at the two ends; None if they do not show the same.
    """
    first, last = int(np.argmin(angles)), int(np.argmax(angles))
    span = float(angles[last] - angles[first])
    half_turns = round(span / 180)
    meet = half_turns in (1, 2) and abs(span - 180 * half_turns) < _SAME * _step(angles)
    return (first, last) if meet else None


def _step(angles: NDArray[np.float64]) -> float:
    return float(np.median(np.diff(np.unique(angles)))) if len(np.unique(angles)) > 1 else 0.0


def _even(angles: NDArray[np.float64]) -> bool:
    steps = np.diff(np.sort(angles))
    middle = np.median(steps)
    return bool(steps.min() > middle / 2 and steps.max() < middle * 3 / 2)


def _order(angles: NDArray[np.float64]) -> list[Finding]:
    steps = np.diff(angles)
    back = steps * np.sign(angles[-1] - angles[0]) < 0
    count = int(np.count_nonzero(back))
    if not count:
        return []
    first = int(np.flatnonzero(back)[0])
    if _even(angles):  # interlaced: nothing is missing, and nothing is there twice
        what = f"the angles are not in order: {count} of {len(steps)} steps go back"
        return [note(what, "every projection is used at its own angle")]
    before, after = angles[first : first + 2]
    what = f"the angle goes back after projection {first}, from {before:.5g} to {after:.5g} degrees"
    return [warning(what, "look whether those angles are right")]


def _span(angles: NDArray[np.float64]) -> list[Finding]:
    span, step = float(np.ptp(angles)), _step(angles)
    if span < 180 - 1.5 * step:
        return [
            warning(
                f"the angles span {span:.4g} degrees only, less than half a turn",
                "the volume will lack what is seen from the missing sides",
            )
        ]
    if span > 360 + 1.5 * step:
        return [note(f"the angles span {span / 360:.4g} turns", "all of them are used, each as its own view")]
    return []


def _gaps(angles: NDArray[np.float64]) -> list[Finding]:
    ordered = np.unique(angles)
    steps = np.diff(ordered)
    wide = int(np.count_nonzero(steps > _GAP * np.median(steps))) if len(steps) else 0
    if not wide:
        return []
    worst = int(np.argmax(steps))
    return [
        warning(
            f"gaps between the angles: {wide}, the widest of {steps[worst]:.4g} degrees after"
            f" {ordered[worst]:.5g} degrees",
            "look whether projections are missing",
        )
    ]


def _repeated(angles: NDArray[np.float64]) -> list[Finding]:
    found = []
    if (ends := ends_that_meet(angles)) is not None:
        first, last = ends
        found.append(
            note(
                f"projections {first} and {last} show the same, at {angles[first]:.5g} and {angles[last]:.5g}"
                " degrees",
                "each of them counts half",
            )
        )
    same = int(np.count_nonzero(np.diff(np.sort(angles)) <= 1e-9))
    if same:
        found.append(
            warning(
                f"projections with the very angle of another one: {same}",
                "they share the weight of one view; look whether the rotation stood still",
            )
        )
    return found
