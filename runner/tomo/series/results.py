"""How the scans of a series ended, and how the series did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from runner.errors import LostError, PartialError, RunnerError
from runner.listing import columns
from runner.tomo.series.entries import Entry
from runner.units import format_duration


class State(StrEnum):
    """Of a scan."""

    DONE = "done"
    THERE = "already there"
    LATE = "out of time"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a scan ended.

    Attributes
    ----------
    entry : Entry
        Which.
    state : State
        How.
    slices : int or None
        Of the volume, if it is there.
    seconds : float
        That it took.
    cause : str
        Why it did not end well.
    exit_code : int
        With which a job of this scan alone would have ended.
    """

    entry: Entry
    state: State
    slices: int | None = None
    seconds: float = 0.0
    cause: str = ""
    exit_code: int = 0


def table_of(results: Sequence[Result]) -> str:
    """Write how all ended for people: a line each."""
    lines = [("scan", "volume", "state", "slices", "time", "cause")]
    lines += [
        (
            str(result.entry.scan),
            str(result.entry.volume),
            str(result.state),
            "-" if result.slices is None else str(result.slices),
            format_duration(result.seconds) if result.seconds >= 0.05 else "-",
            result.cause,
        )
        for result in results
    ]
    return columns(lines)


def error_of(results: Sequence[Result]) -> RunnerError | None:
    """Say what is to be said if not all are done.

    That there was no time goes before all else: the same command goes on. Where all failed for one kind of
    reason, the exit code says which.
    """
    bad = [result for result in results if result.state in {State.LATE, State.FAILED}]
    if not bad:
        return None
    count = Counter(result.state for result in bad)
    told = ", ".join(f"{count[state]} {state}" for state in (State.FAILED, State.LATE) if count[state])
    text = f"{len(results) - len(bad)} of {len(results)} scans are done, {told}"
    if count[State.LATE]:
        return PartialError(text, "the same command goes on with what is missing")
    error = LostError(text, "see the causes above; the same command tries these again")
    codes = {result.exit_code for result in results}
    if len(codes) == 1:
        error.exit_code = codes.pop()
    return error
