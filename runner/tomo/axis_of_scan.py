"""The rotation axis of a reconstruction: given, found by an earlier run, or found now."""

from __future__ import annotations

from distributed import Client, get_worker, wait

from runner.errors import LostError
from runner.tomo.axis import FOUND_BY, AxisEstimate, find_center
from runner.tomo.parameters import Axis
from runner.tomo.scan import Scan
from runner.tomo.settings import AUTO, Settings
from runner.tomo.volume.resume import Unfinished

_AXIS_SECONDS = 900  # a few rows of all projections, read and registered


def find_axis(scan: Scan, settings: Settings, client: Client) -> Axis:
    """Take the rotation axis that was given, or find it, on a worker.

    Raises
    ------
    ScanError
        If it cannot be found.
    LostError
        If no worker answers.
    """
    if settings.center == AUTO:
        future = client.submit(_find_center, scan, pure=False)
        try:
            wait(future, timeout=_AXIS_SECONDS)
        except TimeoutError as error:
            raise LostError(
                f"no worker found the rotation axis within {_AXIS_SECONDS} s",
                "see the workers' logs, or give the axis with --center",
            ) from error
        found = future.result()
        return Axis(position=found.position, slope=found.slope, origin=found.method, evidence=found)
    return Axis(position=float(settings.center), origin=settings.origin("center"))


def _find_center(scan: Scan) -> AxisEstimate:
    """Find the axis with all threads of this worker."""
    return find_center(scan, threads=int(get_worker().state.nthreads))


def axis_found_before(found: Unfinished | None, settings: Settings) -> Axis | None:
    """Take the axis that an earlier run has found, where it was to be found: one volume has one axis."""
    if found is None or settings.center != AUTO or found.center_origin != FOUND_BY:
        return None
    return Axis(position=found.center, slope=found.slope, origin=found.center_origin)
