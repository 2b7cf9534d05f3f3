"""All that is checked before any work is done with a scan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from runner.errors import MissingFileError, ScanError
from runner.tomo.check.frames import drop_frames
from runner.tomo.check.pixels import check_pixels
from runner.tomo.check.sample import take_sample
from runner.tomo.check.turn import check_turn
from runner.tomo.check.units import check_units
from runner.tomo.scan import Scan
from runner.tomo.scan.finding import Finding, Problems, note
from runner.tomo.scan.open import read_scan
from runner.tomo.sources import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What was found.

    Attributes
    ----------
    opened : Scan or None
        The scan as it is; None if it cannot be told what its frames are.
    scan : Scan or None
        The scan to work with: without the frames that were left out. To be used only if there are no errors.
    findings : tuple of Finding
        Errors first, notes last.
    """

    opened: Scan | None
    scan: Scan | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Those with which no right volume can be made."""
        return tuple(finding for finding in self.findings if finding.level == "error")


def inspect(path: Path, sources: Sources | None = None) -> Inspection:
    """Open a scan, look at its headers and at some of its pixels, and gather all that is found.

    Parameters
    ----------
    path, sources
        As for :func:`runner.tomo.scan.open_scan`.

    Raises
    ------
    MissingFileError
        If the scan itself is not there.
    UsageError
        If `sources` says something that has no meaning.
    """
    if not path.exists():
        raise MissingFileError(f"no such file: {path}", "check the path of the scan")
    problems = Problems()
    opened = read_scan(path, sources or Sources(), problems)
    if opened is None:
        return Inspection(opened=None, scan=None, findings=problems.all())
    if len(opened.angles) > 1 and np.isfinite(opened.angles).all():
        problems.findings += check_turn(opened.angles)
    if opened.axis_hint is not None:
        hint = f"the scan says that the rotation axis is at column {opened.axis_hint:g}"
        problems.findings.append(note(hint, "give it with --center to use it"))
    scan, found = check_units(opened)
    problems.findings += found
    sample = problems.attempt(take_sample, scan) if scan.projections.count else None
    if sample is not None:
        problems.findings += check_pixels(sample)
        if len(scan.angles) == scan.projections.count:
            scan, found = drop_frames(scan, sample)
            problems.findings += found
    return Inspection(opened=opened, scan=scan, findings=problems.all())


def checked_scan(
    path: Path, sources: Sources | None = None, *, on_finding: Callable[[Finding], None] = lambda _: None
) -> Scan:
    """Open a scan to work with, or refuse it.

    Parameters
    ----------
    path, sources
        As for :func:`runner.tomo.scan.open_scan`.
    on_finding : callable
        Called with each finding; not with an error that is the only one, which is raised.

    Returns
    -------
    Scan
        Without the frames that are not what they are called.

    Raises
    ------
    ScanError
        If no right volume can be made of it.
    MissingFileError, UsageError
        As from :func:`inspect`.
    """
    inspection = inspect(path, sources)
    errors = inspection.errors
    for finding in inspection.findings:
        if finding.level != "error" or len(errors) > 1:
            on_finding(finding)
    if len(errors) == 1:
        raise ScanError(errors[0].what, errors[0].remedy)
    if errors or inspection.scan is None:
        raise ScanError(f"{len(errors)} things are wrong with {path}", "mend what is said above")
    return inspection.scan
