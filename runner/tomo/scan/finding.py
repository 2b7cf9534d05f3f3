"""What is noticed about a scan: errors, of which all are told at once, warnings and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from runner.errors import MissingFileError, RunnerError, ScanError

LEVELS = ("error", "warning", "note")
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that was noticed about a scan.

    Attributes
    ----------
    level : {"error", "warning", "note"}
        Whether no right volume can be made, something was put right or may be wrong, or all is well.
    what : str
        What was found.
    remedy : str
        What to do about it, or what is done.
    """

    level: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.level}: {RunnerError(self.what, self.remedy)}"


def error(what: str, remedy: str) -> Finding:
    """Make a finding with which no right volume can be made."""
    return Finding(level="error", what=what, remedy=remedy)


def warning(what: str, remedy: str) -> Finding:
    """Make a finding that a person should look at."""
    return Finding(level="warning", what=what, remedy=remedy)


def note(what: str, remedy: str = "") -> Finding:
    """Make a finding that is good to know."""
    return Finding(level="note", what=what, remedy=remedy)


class Problems:
    """Gathers what is wrong with a scan while it is opened, so that the first error does not hide the others.

    Attributes
    ----------
    errors : list of RunnerError
        What was raised, in this order.
    findings : list of Finding
        What was noticed besides.
    """

    def __init__(self) -> None:
        self.errors: list[RunnerError] = []
        self.findings: list[Finding] = []

    def attempt(self, function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T | None:
        """Call a function; None if it raises that something is wrong with the scan, which is kept."""
        try:
            return function(*args, **options)
        except (ScanError, MissingFileError) as found:
            self.errors.append(found)
            return None

    def add(self, found: Iterable[Finding]) -> None:
        """Take what a check has found."""
        for finding in found:
            if finding.level == "error":
                self.errors.append(ScanError(finding.what, finding.remedy))
            else:
                self.findings.append(finding)

    def all(self) -> tuple[Finding, ...]:
        """List all that was found, errors first and notes last."""
        errors = [error(found.problem, found.remedy) for found in self.errors]
        return tuple(sorted(errors + self.findings, key=lambda finding: LEVELS.index(finding.level)))

    def raise_errors(self) -> None:
        """Raise the first error, if there is one, and count the others.

        Raises
        ------
        MissingFileError, ScanError
        """
        if not self.errors:
            return
        first, more = self.errors[0], len(self.errors) - 1
        if more:
            raise type(first)(f"{first} ({more} more with runner check)") from first
        raise first
