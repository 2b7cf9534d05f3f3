"""Whether a volume that is there was made from the same scan with the same settings."""

from __future__ import annotations

from pathlib import Path

from runner.errors import WriteError
from runner.listing import few
from runner.tomo.axis_of_scan import axis_found_before
from runner.tomo.check import inspect
from runner.tomo.parameters import Axis, parameters_of
from runner.tomo.physics import as_told, as_used
from runner.tomo.pipeline import content_of, greys_found_before, plan_for, unit_scale
from runner.tomo.plan import Resources
from runner.tomo.settings import AUTO, Settings
from runner.tomo.volume.greys import Greys
from runner.tomo.volume.resume import differences, read_finished


def check_made_before(scan_path: Path, volume: Path, settings: Settings, resources: Resources) -> int:
    """Make sure that a finished volume is what would be made now; its pixels are not read.

    Returns
    -------
    int
        How many slices it has.

    Raises
    ------
    WriteError
        If it is something else; says what differs.
    ScanError, MissingFileError, UsageError
        If the scan cannot be reconstructed.
    """
    found = read_finished(volume)
    scan = as_told(inspect(scan_path, settings.sources).usable(), settings)
    axis = axis_found_before(found, settings) or _axis_given(settings)
    plan = plan_for(scan, settings, resources, axis.position)
    used = as_used(scan, settings)
    _, units = unit_scale(used.pixel_size, settings)
    greys = greys_found_before(found, settings) or Greys(dtype=settings.dtype)
    parameters = parameters_of(scan, plan, axis, units, settings, greys=greys)
    if differing := differences(found, content_of(used, plan, units, parameters, (), greys=greys)):
        raise WriteError(
            f"{volume} is there, made with {few(differing)}",
            "say --overwrite to replace it, or choose another name",
        )
    return found.target.shape[0]


def _axis_given(settings: Settings) -> Axis:
    """Take the axis that was given; where it is to be found, no other was found before."""
    position = float("nan") if settings.center == AUTO else float(settings.center)
    return Axis(position=position, origin=settings.origin("center"))
