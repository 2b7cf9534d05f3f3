"""Numbers out of environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runner.errors import UsageError

#: When the batch system will end the job, seconds since 1970. The job scripts set it where no system does.
END_VARIABLE = "RUNNER_END"

#: How many seconds before its end the job is told; 0 if it is not. The launcher sets it.
DRAIN_VARIABLE = "RUNNER_DRAIN"


def number(environ: Mapping[str, str], name: str) -> int | None:
    """Read a whole number; None where the variable is not set.

    Raises
    ------
    UsageError
        If it is something else.
    """
    text = environ.get(name)
    if not text:
        return None
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(
            f"{name}={text!r} is not a whole number", f"set it right, or unset {name}"
        ) from error


def end_time(environ: Mapping[str, str]) -> float | None:
    """Read the end of the job that the job script worked out."""
    seconds = number(environ, END_VARIABLE)
    return None if seconds is None else float(seconds)


def folder(environ: Mapping[str, str], name: str) -> Path | None:
    """Read a path; None where the variable is not set."""
    text = environ.get(name)
    return Path(text) if text else None
