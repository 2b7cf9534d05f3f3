"""Which projections to compare for the rotation axis: those that are 180 degrees apart, and no others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError

_REACH = 1.5  # by how many steps, on each side, a projection may be extrapolated
_GAP = 3.0  # over how many steps two projections may be interpolated


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The object seen from some angle: between two projections, or a little beyond the last.

    Attributes
    ----------
    numbers : tuple of int
        The two projections.
    weight : float
        Share of the second one; below 0 or above 1 to extrapolate.
    """

    numbers: tuple[int, int]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two views from exactly opposite sides.

    Attributes
    ----------
    angle : float
        Angle of the first, degrees; the second is at `angle` + 180.
    first, second : View
    """

    angle: float
    first: View
    second: View


def opposite_pairs(angles: NDArray[np.float64], *, most: int = 12) -> tuple[Pair, ...]:
    """Choose pairs of opposite views, spread evenly over the scan.

    A view that falls between two projections is interpolated linearly. Where a scan ends a step
    before 180 degrees, as those do that leave out the last angle, its first and its last projection
    are each extrapolated by half of what is missing.

    Parameters
    ----------
    angles : (angle,) float64
        Rotation angle of each projection, degrees, in any order and from any start.
    most : int
        How many pairs to choose at most.

    Raises
    ------
    ScanError
        If there are no opposite views.
    """
    order = np.argsort(angles, kind="stable")
    turned = angles[order]
    apart = np.flatnonzero(np.diff(turned, prepend=-np.inf) > 1e-9)  # one of each angle
    order, turned = order[apart], turned[apart]
    if len(turned) < 2:
        raise _none(turned)
    step = float(np.median(np.diff(turned)))
    missing = 180 - float(turned[-1] - turned[0])
    if missing > 2 * _REACH * step:
        raise _none(turned)
    if missing > 0:
        starts = turned[:1] - missing / 2
    else:
        last = max(int(np.searchsorted(turned, turned[-1] - 180, side="right")), 1)  # 0 by rounding alone
        starts = turned[np.unique(np.linspace(0, last - 1, most).round().astype(int))]
    pairs = []
    for start in starts:
        first, second = (_view(angle, turned, order, step) for angle in (start, start + 180))
        if first is not None and second is not None:
            pairs.append(Pair(angle=float(start), first=first, second=second))
    if not pairs:
        raise _none(turned)
    return tuple(pairs)


def _view(angle: float, turned: NDArray[np.float64], order: NDArray[np.int64], step: float) -> View | None:
    """Make a view from the projections around an angle; None across a gap in the scan."""
    after = int(np.clip(np.searchsorted(turned, angle), 1, len(turned) - 1))
    gap = turned[after] - turned[after - 1]
    weight = float((angle - turned[after - 1]) / gap)
    if gap > _GAP * step and not (abs(weight) < 1e-6 or abs(weight - 1) < 1e-6):
        return None
    return View(numbers=(int(order[after - 1]), int(order[after])), weight=weight)


def _none(turned: NDArray[np.float64]) -> ScanError:
    span = float(np.ptp(turned)) if len(turned) else 0.0
    return ScanError(
        f"no two of the {len(turned)} projections are 180 degrees apart (they span {span:.5g} degrees), so"
        " the rotation axis cannot be found",
        "give it as --center PX",
    )
