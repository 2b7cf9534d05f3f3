"""Lengths and energies that no beamline has: the file probably means another unit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runner.tomo.scan import Scan
from runner.tomo.scan.finding import Finding, warning

_RANGES = {  # what is plausible
    "pixel_size": (1e-9, 2e-3, "m", "pixel size"),
    "energy": (0.1, 2000.0, "keV", "energy"),
    "distance": (1e-6, 500.0, "m", "distance"),
}


def check_units(scan: Scan) -> tuple[Scan, list[Finding]]:
    """Forget what cannot be true.

    Returns
    -------
    (Scan, list of Finding)
        The scan without implausible quantities, and what is said about them.
    """
    found = []
    forgotten: dict[str, Any] = {}
    for name, (least, most, unit, title) in _RANGES.items():
        value = getattr(scan, name)
        if value is not None and not least <= value <= most:
            found.append(
                warning(
                    f"the {title} of {value:.5g} {unit} is not plausible",
                    "it is not used: correct it, or its attribute 'units'",
                )
            )
            forgotten[name] = None
    return replace(scan, **forgotten), found
