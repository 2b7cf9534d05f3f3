"""What a scan is, for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from runner.tomo.scan import FrameGroup, Scan
from runner.units import format_size

_FORMS = {
    "nxtomo": "NXtomo",
    "dxchange": "DXchange",
    "hdf5": "HDF5, its parts named by the user",
    "images": "images",
}


def summarise(scan: Scan) -> dict[str, str]:
    """List what is known of a scan from its headers, by name."""
    lines = {
        "scan": f"{scan.path}  {scan.entry}".strip(),
        "form": _FORMS[scan.format],
        "title": scan.title,
        "projections": f"{scan.projections.count} of {scan.rows} x {scan.columns} pixels, {scan.dtype}",
        "angles": _angles(scan),
        "flats": groups_taken(scan.flats, scan.projections.count),
        "darks": groups_taken(scan.darks, scan.projections.count),
        "ring current": _currents(scan),
        "pixel size": _quantity(scan.pixel_size, 1e6, "um"),
        "energy": _quantity(scan.energy, 1, "keV"),
        "distance": _quantity(scan.distance, 1e3, "mm"),
        "size": format_size(_bytes(scan)),
    }
    return {name: value for name, value in lines.items() if value}


def _angles(scan: Scan) -> str:
    finite = scan.angles[np.isfinite(scan.angles)]
    if len(finite) < 2:
        return "none"
    step = float(np.median(np.abs(np.diff(finite))))
    return f"{finite[0]:.5g} to {finite[-1]:.5g} degrees, in steps of {step:.4g}"


def groups_taken(groups: Sequence[FrameGroup], projections: int) -> str:
    """Say how many flats or darks there are, and when they were taken."""
    if not groups:
        return "none"
    parts = [f"{group.frames.count} {_when(group.position, projections)}" for group in groups]
    return ", ".join(parts)


def _when(position: float, projections: int) -> str:
    if position in (0, projections):
        return "at the end" if position else "at the start"
    return f"after projection {position:g}"


def _currents(scan: Scan) -> str:
    if scan.currents is None or not len(scan.currents):
        return ""
    return f"{scan.currents.min():.5g} to {scan.currents.max():.5g} during the projections"


def _quantity(value: float | None, factor: float, unit: str) -> str:
    return "" if value is None else f"{value * factor:.6g} {unit}"


def _bytes(scan: Scan) -> int:
    frames = scan.projections.count + sum(group.frames.count for group in (*scan.flats, *scan.darks))
    return frames * scan.rows * scan.columns * scan.dtype.itemsize
