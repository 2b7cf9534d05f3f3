"""Quantitative parallel-beam tomography on any Dask client; knows no launcher and no batch system.

The public names are imported when they are first used, so that reading a command line stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.tomo.axis import AxisEstimate, find_center
    from runner.tomo.correct.flatfield import corrected_sinograms, read_counts
    from runner.tomo.reconstruct import Projector, Reconstructor
    from runner.tomo.scan import Scan, open_scan

__all__ = [
    "AxisEstimate",
    "Projector",
    "Reconstructor",
    "Scan",
    "corrected_sinograms",
    "find_center",
    "open_scan",
    "read_counts",
]

_MODULES = {
    "AxisEstimate": "runner.tomo.axis",
    "Projector": "runner.tomo.reconstruct",
    "Reconstructor": "runner.tomo.reconstruct",
    "Scan": "runner.tomo.scan",
    "corrected_sinograms": "runner.tomo.correct.flatfield",
    "find_center": "runner.tomo.axis",
    "open_scan": "runner.tomo.scan",
    "read_counts": "runner.tomo.correct.flatfield",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
