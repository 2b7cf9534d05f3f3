"""All that shaped a volume, by name, with its origin: for the record, and to go on with the same."""

from __future__ import annotations

from dataclasses import dataclass

from runner.tomo.axis import AxisEstimate
from runner.tomo.check.summary import groups_taken
from runner.tomo.choice import Choice
from runner.tomo.physics import PHYSICS
from runner.tomo.plan import Plan
from runner.tomo.reconstruct.iterative.methods import ITERATIONS
from runner.tomo.reconstruct.shares import shares_of
from runner.tomo.scan import Scan
from runner.tomo.settings import NAMES, Settings
from runner.tomo.volume.greys import Greys
from runner.tomo.volume.provenance import Parameter
from runner.tomo.work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The rotation axis as used.

    Attributes
    ----------
    position : float
        Detector column.
    origin : str
        What it was given by, or how it was found.
    slope : float
        By how many columns it moves from one row to the next; `position` is that in the middle row.
    evidence : AxisEstimate or None
        What speaks for it, where it was found.
    """

    position: float
    origin: str
    slope: float = 0.0
    evidence: AxisEstimate | None = None


def parameters_of(
    scan: Scan, plan: Plan, axis: Axis, units: str, settings: Settings, *, greys: Greys
) -> list[Parameter]:
    """List all that shaped the volume, as it was used."""
    chosen = {name: getattr(settings, name) for name in NAMES}
    used: dict[str, str | int | float | bool] = {
        name: str(value) if isinstance(value, Choice) else value
        for name, value in chosen.items()
        if value is not None
    }
    used |= {
        "entry": scan.entry,
        "projections_used": scan.projections.count,
        "flats_used": groups_taken(scan.flats, scan.projections.count),
        "darks_used": groups_taken(scan.darks, scan.projections.count),
        "weights": "equal" if shares_of(scan.angles) is None else "by angle",
        "center": axis.position,
        **_extent(plan.work),
        **_iterations(settings),
        "units": units,
        "axis_slope": axis.slope,
        "half_acquisition": plan.work.half,
    }
    origins = {name: settings.origin(name) for name in NAMES}
    origins |= dict.fromkeys(("center", "axis_slope"), axis.origin)
    if scan.defects is not None:
        used |= {f"pixels_{kind}": number for kind, number in scan.defects.counts().items()}
    if greys.levels:
        used |= {"grey_low": greys.low, "grey_high": greys.high}
        origins |= dict.fromkeys(("grey_low", "grey_high"), f"greys {settings.greys}")
    if axis.evidence:
        evidence = evidence_of(axis.evidence)
        used |= evidence
        origins |= dict.fromkeys(evidence, axis.origin)
    of_scan = {name: value for name in PHYSICS if (value := getattr(scan, name)) is not None}
    used |= of_scan
    origins |= {name: "scan" for name in of_scan if getattr(settings, name) is None}
    return [
        Parameter(name=name, value=value, origin=origins.get(name, "scan")) for name, value in used.items()
    ]


def _extent(work: Work) -> dict[str, str]:
    """Say which rows were used, and which part of the slices, in pixels of the detector."""
    ranges = {"rows": (work.first_row, work.end_row), **dict(zip("yx", work.region or (), strict=False))}
    return {name: f"{first * work.binning}:{end * work.binning}" for name, (first, end) in ranges.items()}


def _iterations(settings: Settings) -> dict[str, int]:
    """Say how many steps an iterative method takes."""
    if settings.method not in ITERATIONS:
        return {}
    return {"iterations": settings.iterations or ITERATIONS[settings.method]}


def evidence_of(found: AxisEstimate) -> dict[str, str | float | bool]:
    """List what speaks for an axis, by the names under which the volume holds it."""
    of_methods = {f"center_by_{one.method.replace(' ', '_')}": one.text for one in found.findings}
    return {
        "center_confidence": found.confidence,
        "center_spread": found.spread,
        "center_agreement": found.agreement,
        "center_score": found.score,
        **of_methods,
    }
