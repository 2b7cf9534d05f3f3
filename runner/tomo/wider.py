"""Whether the object is wider than the field of view: told from what the ends of the detector see."""

from __future__ import annotations

import numpy as np

from runner.tomo.correct.corrections import NO_CORRECTIONS, prepared_sinograms
from runner.tomo.scan import Scan
from runner.tomo.scan.finding import Finding, warning
from runner.tomo.scan.select import keep_projections
from runner.tomo.settings import Settings
from runner.tomo.settings.allowed import ITERATIVE

_VIEWS = 32  # that are looked at, in one row: half of them would do
_END = 0.02  # of the columns, at each end
_SHARE = 0.1  # of the mean line integral: what no air shows
_LEAST = 0.02  # line integral: what a beam that drifts leaves of air


def about_room(scan: Scan, settings: Settings, *, half: bool) -> list[Finding]:
    """Say so if an iterative method is to explain an object that the detector does not see all of.

    Parameters
    ----------
    scan : Scan
        As :func:`runner.tomo.physics.as_used` makes it.
    settings : Settings
        What was chosen.
    half : bool
        Half acquisition: near the axis the detector ends within the object, and that is right.

    Raises
    ------
    MissingFileError, ScanError
        If the projections cannot be read.
    """
    if settings.method not in ITERATIVE or settings.room != 1:
        return []
    left, whole, right = _line_integrals(scan)
    seen = min(left, right) if half else max(left, right)
    if seen < max(_SHARE * whole, _LEAST):
        return []
    what = (
        f"an end of the detector sees {seen:.2g}, with {whole:.2g} in the mean: the object goes on beyond it"
    )
    remedy = (
        f"{settings.method} puts all of it into the field of view: say by --room how many times wider it is"
    )
    return [warning(what, remedy)]


def _line_integrals(scan: Scan) -> tuple[float, float, float]:
    """Return the means of the left end, of all and of the right end of the middle row of some projections."""
    kept = np.zeros(scan.projections.count, bool)
    kept[np.linspace(0, len(kept) - 1, min(_VIEWS, len(kept))).round().astype(int)] = True
    row = scan.rows // 2
    (sinogram,) = prepared_sinograms(keep_projections(scan, kept), slice(row, row + 1), NO_CORRECTIONS)
    columns = max(round(_END * scan.columns), 1)
    return float(sinogram[:, :columns].mean()), float(sinogram.mean()), float(sinogram[:, -columns:].mean())
