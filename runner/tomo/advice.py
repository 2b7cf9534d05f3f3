"""Settings that do harm to this scan, as far as that can be told before any work."""

from __future__ import annotations

import numpy as np

from runner.tomo.choice import Choice
from runner.tomo.correct.corrections import Corrections
from runner.tomo.correct.flatfield import currents_of
from runner.tomo.physics import corrections_of
from runner.tomo.scan import Scan
from runner.tomo.scan.finding import Finding, warning
from runner.tomo.settings import Settings

_NARROW = 20  # windows of the detector's width: with fewer, the sample's own structure is as wide as one
_LEAST_WINDOW = 3
_BLURRED = 30.0  # columns: L of a phase retrieval that sees nothing smaller
_SIGMAS = 6  # standard deviations that a Gaussian is wide
_DRIFT = 0.01  # of the beam
_SAME_AXIS = 1.0  # columns


def advise(scan: Scan, settings: Settings) -> list[Finding]:
    """Hold the settings against the scan.

    Parameters
    ----------
    scan : Scan
        As :func:`runner.tomo.physics.as_used` makes it.
    settings : Settings
        What was chosen.

    Raises
    ------
    ScanError, UsageError
        As from :func:`runner.tomo.physics.corrections_of`.
    """
    corrections = corrections_of(scan, settings)
    return [
        *_about_rings(corrections.rings, scan.columns),
        *_about_phase(corrections, scan.columns),
        *([] if settings.ring_current else about_currents(scan)),
    ]


def about_currents(scan: Scan) -> list[Finding]:
    """Hold the ring current at the projections against what the flats tell of it, where it is known."""
    if scan.currents is None or not scan.flats or any(one.currents is None for one in scan.flats):
        return []
    currents, of_flats = currents_of(scan)
    times = np.arange(len(currents)) + 0.5
    told = np.interp(times, [group.position for group in scan.flats], of_flats)
    worst = float(np.abs(currents / told - 1).max())
    if worst <= _DRIFT:
        return []
    what = f"the ring current differs by up to {worst:.1%} from what the flats tell of it"
    return [warning(what, "follow it with --ring-current")]


def about_axis(scan: Scan, position: float) -> list[Finding]:
    """Hold the axis that is used against the one that the scan tells, where it does.

    Parameters
    ----------
    scan : Scan
    position : float
        Column of the detector.
    """
    if scan.axis_hint is None or abs(scan.axis_hint - position) <= _SAME_AXIS:
        return []
    what = f"the rotation axis is at column {position:.2f}, and the scan says {scan.axis_hint:.2f}"
    return [warning(what, f"see both in a sweep; --center {scan.axis_hint:.2f} takes what the scan says")]


def window_of(rings: Choice) -> float:
    """Tell how many columns the widest window of a method of removing rings has; 0 where it has none.

    >>> window_of(Choice(name="all", values=(("large", 51), ("small", 21)))), window_of(Choice(name="none"))
    (51.0, 0.0)
    """
    values = dict(rings.values)
    windows = [float(values[name]) for name in ("size", "large", "small") if name in values]
    if "level" in values:
        windows.append(2.0 ** values["level"])
    if rings.name == "mean":
        windows.append(_SIGMAS * values["sigma"])
    return max(windows, default=0.0)


def _about_rings(rings: Choice, columns: int) -> list[Finding]:
    window = window_of(rings)
    if window * _NARROW <= columns:
        return []
    fitting = max(columns // (2 * _NARROW), _LEAST_WINDOW)
    what = f"--rings {rings.name} looks at windows of {window:g} columns, and the detector has {columns} only"
    remedy = (
        "what the sample has of that width suffers: begin with"
        f" sorting:size={fitting - 1 + fitting % 2} or wavelet-fft:level=2"
    )
    return [warning(what, remedy)]


def _about_phase(corrections: Corrections, columns: int) -> list[Finding]:
    if corrections.phase is None:
        return []
    length = corrections.phase.length
    if length <= min(_BLURRED, columns / _NARROW):
        return []
    what = f"phase retrieval with delta_beta {corrections.phase.delta_beta:g} blurs over {length:.3g} pixels"
    remedy = f"of {columns} columns; look whether delta_beta, energy, distance and pixel size are right"
    return [warning(what, remedy)]
