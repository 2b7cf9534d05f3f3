"""The end of the job: when the launcher stops it, and when the job is told. Rank 0 decides, by the clock."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass
from datetime import datetime

from runner.batch.allocation import Allocation
from runner.batch.values import DRAIN_VARIABLE, END_VARIABLE
from runner.errors import PartialError, UsageError
from runner.units import format_duration
from runner.walltime import DEFAULT_DRAIN

_STOP_SECONDS = 5  # what an orderly stop may take: we begin it so long before the batch system ends the job
_LOOK_SECONDS = 10.0  # the clock may be set while we wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Walltime:
    """When the job ends.

    Attributes
    ----------
    ends_at : int
        When the launcher stops it, seconds since 1970.
    drain : int
        How many seconds before that the job is told; 0 if it is not.
    reason : str
        Whose end this is, for people.
    """

    ends_at: int
    drain: int
    reason: str

    @property
    def variables(self) -> dict[str, str]:
        """What :mod:`runner.walltime` reads in the processes of the job."""
        return {END_VARIABLE: str(self.ends_at), DRAIN_VARIABLE: str(self.drain)}


def plan_walltime(
    allocation: Allocation, *, started_at: float, time_limit: float | None = None, drain: float | None = None
) -> Walltime | None:
    """Decide when the job ends.

    Parameters
    ----------
    allocation : Allocation
        The batch system's end is the job's, less what an orderly stop takes.
    started_at : float
        When rank 0 started, seconds since 1970.
    time_limit : float, optional
        Seconds from the start; the sooner of the two ends counts.
    drain : float, optional
        Seconds before the end; None takes a minute, or a quarter of a job of less than four minutes.

    Returns
    -------
    Walltime or None
        None if there is no end. Whole seconds, as batch systems count them.

    Raises
    ------
    PartialError
        If the end of this batch job is over already: it had less time than ranks take to start.
    UsageError
        If another end is: it was left by another job.
    """
    ends = []
    if allocation.ends_at is not None:
        ends.append((math.floor(allocation.ends_at) - _STOP_SECONDS, _by_system(allocation)))
    if time_limit is not None:
        ends.append((math.floor(started_at + time_limit), f"--time-limit {format_duration(time_limit)}"))
    if not ends:
        return None
    ends_at, reason = min(ends)
    if ends_at <= started_at:
        over = f"the end of the job is over before it began ({reason})"
        if allocation.job_id is not None and reason == _by_system(allocation):
            raise PartialError(over, "give it more time: nothing was done")
        raise UsageError(over, f"unset {END_VARIABLE} if it was left by another job, or give more time")
    if drain is None:
        drain = min(DEFAULT_DRAIN, (ends_at - started_at) / 4)
    return Walltime(ends_at=ends_at, drain=math.ceil(drain), reason=reason)


async def wait_for(walltime: Walltime) -> None:
    """Return when the job has to be stopped."""
    while (left := walltime.ends_at - time.time()) > 0:
        await asyncio.sleep(min(left, _LOOK_SECONDS))


def _by_system(allocation: Allocation) -> str:
    clock = datetime.fromtimestamp(allocation.ends_at or 0).strftime("%Y-%m-%d %H:%M:%S")
    if allocation.job_id is None:
        return f"{END_VARIABLE} says {clock}"
    return f"{allocation.system.upper()} ends job {allocation.job_id} at {clock}"
