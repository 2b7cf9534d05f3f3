"""Every error that is the user's to mend: one line that says what was given, what is allowed, what to do.

The exit codes are those of ``sysexits.h``, so that a batch script can tell the cases apart. Anything
that is not a :class:`RunnerError` is a defect of ours and keeps its traceback.
"""

from __future__ import annotations


class RunnerError(Exception):
    """Something a user can mend.

    Parameters
    ----------
    problem : str
        What was given or found, and what is allowed.
    remedy : str, optional
        What to do about it.
    """

    exit_code = 1

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.problem}; {self.remedy}" if self.remedy else self.problem
        return " ".join(text.split())  # one line, whatever a library put into its message


class UsageError(RunnerError):
    """The command line or a configuration file asks for something that does not exist."""

    exit_code = 64


class ScanError(RunnerError):
    """A scan, or a value for it, with which no right volume can be made."""

    exit_code = 65


class MissingFileError(RunnerError):
    """A file that was named is not there."""

    exit_code = 66


class StartError(RunnerError):
    """The ranks of the job could not become a cluster in time."""

    exit_code = 69


class LostError(RunnerError):
    """A part of the running job was lost beyond repair, or slices could not be made."""

    exit_code = 70


class WriteError(RunnerError):
    """The result cannot be written where it was asked for."""

    exit_code = 73


class PartialError(RunnerError):
    """The time was over before all was done: stopped in good order."""

    exit_code = 75
