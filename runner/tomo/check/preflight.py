"""All that is checked before any work is done with a scan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from runner.errors import MissingFileError, RunnerError, ScanError
from runner.tomo.check.frames import drop_frames
from runner.tomo.check.pixels import check_pixels
from runner.tomo.check.sample import take_sample
from runner.tomo.check.sampling import check_sampling
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
    path : Path
        Of the scan, as it was named.
    opened : Scan or None
        The scan as it is; None if it cannot be told what its frames are.
    scan : Scan or None
        The scan without the frames that are left out, and with its defective pixels: see :meth:`usable`.
    errors : tuple of RunnerError
        With which no right volume can be made.
    findings : tuple of Finding
        All that was found, errors first, notes last.
    """

    path: Path
    opened: Scan | None
    scan: Scan | None
    errors: tuple[RunnerError, ...]
    findings: tuple[Finding, ...]

    def usable(self, on_error: Callable[[str], None] = lambda _: None) -> Scan:
        """Return the scan to work with, or refuse it.

        Parameters
        ----------
        on_error : callable
            Called with a line for each error, but not with one that is alone, and is raised.

        Raises
        ------
        ScanError
            If no right volume can be made of it.
        MissingFileError
            If all that is wrong is that a file is missing.
        """
        if len(self.errors) == 1:
            raise self.errors[0]
        for finding in self.findings:
            if finding.level == "error":
                on_error(str(finding))
        if self.errors or self.scan is None:
            raise ScanError(
                f"{len(self.errors)} things are wrong with {self.path}", "mend what is said above"
            )
        return self.scan


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
    scan = None if opened is None else _check(opened, problems)
    return Inspection(
        path=path, opened=opened, scan=scan, errors=tuple(problems.errors), findings=problems.all()
    )


def _check(opened: Scan, problems: Problems) -> Scan:
    """Look at headers and pixels; return the scan without what is left out."""
    if len(opened.angles) > 1 and np.isfinite(opened.angles).all():
        problems.add(check_turn(opened.angles))
        problems.add(check_sampling(opened.angles, opened.columns))
    if opened.axis_hint is not None:
        hint = f"the scan says that the rotation axis is at column {opened.axis_hint:g}"
        problems.add([note(hint, "what is found is held against it; --center uses it")])
    scan, found = check_units(opened)
    problems.add(found)
    sample = problems.attempt(take_sample, scan) if scan.projections.count else None
    if sample is not None:
        problems.add(check_pixels(sample))
        scan = replace(scan, defects=sample.defects)
        if len(scan.angles) == scan.projections.count:
            scan, found = drop_frames(scan, sample)
            problems.add(found)
    return scan


def checked_scan(
    path: Path, sources: Sources | None = None, *, say: Callable[[str], None] = lambda _: None
) -> Scan:
    """Open a scan to work with, and say what was found; or refuse it.

    Parameters
    ----------
    path, sources
        As for :func:`runner.tomo.scan.open_scan`.
    say : callable
        Called with a line for each finding.

    Raises
    ------
    MissingFileError, ScanError, UsageError
        As from :func:`inspect` and :meth:`Inspection.usable`.
    """
    inspection = inspect(path, sources)
    scan = inspection.usable(say)
    for finding in inspection.findings:
        say(str(finding))
    return scan
