"""One axis from what several methods find, or a refusal."""

from __future__ import annotations

import numpy as np

from runner.errors import ScanError
from runner.tomo.axis.finding import Finding

_AGREE = 1.0  # columns
_CLOSE = 0.5
_LEAST_SPREAD = 0.01


def consensus(findings: tuple[Finding, ...]) -> tuple[float, str]:
    """Decide on an axis: (column, confidence).

    It is the median of what the methods find that are without doubt. The first one has seen the whole
    detector; where it is in doubt itself, another one that is not has to confirm it.

    Parameters
    ----------
    findings : tuple of Finding
        Of all methods, opposite views first.

    Raises
    ------
    ScanError
        If methods disagree by more than a column, or none is without doubt.
    """
    certain = [finding for finding in findings if not finding.doubt]
    heard = certain if not findings[0].doubt else [findings[0], *certain]
    places = np.array([finding.position for finding in heard])
    if not certain:
        raise _refused(f"no method is certain: {_list(findings)}")
    if not np.ptp(places) <= _AGREE:  # a position that is not finite does not agree either
        raise _refused(f"the methods disagree: {_list(findings)}")
    position = float(np.median([finding.position for finding in certain]))
    close = sum(abs(finding.position - position) <= _CLOSE for finding in certain)
    return position, {1: "low", 2: "fair"}.get(close, "high" if close else "low")


def spread_about(position: float, findings: tuple[Finding, ...]) -> float:
    """Say how far the rows of the first method, and methods that are without doubt, differ from an axis.

    Never less than a hundredth of a column: the models of all of them are not better than that.
    """
    of_rows = [findings[0].spread] if np.isfinite(findings[0].spread) else []
    of_methods = [abs(finding.position - position) for finding in findings if not finding.doubt]
    return max(*of_rows, *of_methods, _LEAST_SPREAD)


def _list(findings: tuple[Finding, ...]) -> str:
    return ", ".join(str(finding) for finding in findings)


def _refused(why: str) -> ScanError:
    return ScanError(
        f"the rotation axis cannot be found: {why}",
        "check the angles, see a sweep by 'center SCAN --center A:B:STEP', and give it as --center PX",
    )
