"""What the settings and the scan say together of the physics, and what is to be corrected for it."""

from __future__ import annotations

from dataclasses import replace

from runner.errors import ScanError, UsageError
from runner.tomo.correct.corrections import Corrections
from runner.tomo.correct.flatfield import FlatField, currents_of
from runner.tomo.correct.phase import Paganin
from runner.tomo.scan import Scan
from runner.tomo.scan.binning import binned
from runner.tomo.settings import Settings

PHYSICS = ("energy", "distance", "pixel_size")
"""Values that a scan has, and that a setting of the same name goes before."""


def corrections_of(scan: Scan, settings: Settings) -> Corrections:
    """Take from the settings, and the scan :func:`as_used`, what is done before slices are made.

    Raises
    ------
    ScanError
        If phase retrieval or the ring current need what neither of them tells, or counts are to be used
        without flats and without air.
    UsageError
        If there are not so many columns of air.
    """
    _check_beam(scan, settings)
    return Corrections(
        flat_field=FlatField(by=settings.flats_by, ring_current=settings.ring_current),
        zingers=settings.zingers,
        air=None if settings.air is None else max(settings.air // scan.binning, 1),
        double_flat=settings.double_flat,
        rings=settings.rings,
        phase=None if settings.delta_beta is None else _paganin(scan, settings.delta_beta),
        unsharp=settings.unsharp,
    )


def _check_beam(scan: Scan, settings: Settings) -> None:
    if settings.ring_current:
        currents_of(scan)
    if settings.air is not None and 2 * settings.air > scan.columns * scan.binning:
        raise UsageError(
            f"air at {settings.air} columns of each end is more than there are"
            f" ({scan.columns * scan.binning})",
            "give less",
        )
    if not scan.flats and scan.beam != 1 and settings.air is None:
        raise ScanError(
            "the projections are no transmissions, and there are no flats",
            "give --flats, or --air N if there are N columns of air at both ends of each line",
        )


def _paganin(scan: Scan, delta_beta: float) -> Paganin:
    physics = {name: getattr(scan, name) for name in PHYSICS}
    unknown = [name for name, value in physics.items() if value is None]
    if unknown:
        options = " and ".join(f"--{name.replace('_', '-')}" for name in unknown)
        raise ScanError(
            f"phase retrieval needs {', '.join(unknown).replace('_', ' ')}, which the scan does not tell",
            f"give {options}",
        )
    return Paganin(delta_beta=delta_beta, **physics)


def as_told(scan: Scan, settings: Settings) -> Scan:
    """Let what the settings say go before what the scan says: of the physics, and of defective pixels."""
    given = {name: value for name in PHYSICS if (value := getattr(settings, name)) is not None}
    return replace(scan, defects=scan.defects if settings.defects else None, **given)


def as_used(scan: Scan, settings: Settings) -> Scan:
    """Make what the slices are made of: the scan as told, with larger pixels where these were asked for.

    Raises
    ------
    UsageError
        If the detector is smaller than one of them.
    """
    return binned(as_told(scan, settings), settings.bin)
