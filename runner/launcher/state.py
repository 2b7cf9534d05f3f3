"""What rank 0 knows about the job's processes, and how it says that the job is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runner.launcher.roles import Duty

JOB_GRACE_SECONDS = 10.0  # for a job that was told to stop by a signal, to save what it has
NO_REPORT_YET = "the scheduler took too long"


class EndedError(Exception):
    """The job is over, with this exit code."""

    def __init__(self, code: int, number: int = 0, grace: float = JOB_GRACE_SECONDS) -> None:
        super().__init__(code)
        self.code = code
        self.signal = number
        self.grace = grace


@dataclass(slots=True)
class State:
    """What the leader knows about the processes."""

    duties: dict[int, Duty] = field(default_factory=dict)
    wanted: dict[str, int] = field(default_factory=dict)  # planned worker -> its rank
    serving: dict[str, str] = field(default_factory=dict)  # planned worker -> its name in the cluster
    scheduler: dict[str, Any] | None = None
    host: str = ""  # where the scheduler listens
    client_ready: bool = False
    client_ended: bool = False
    report_problem: str = NO_REPORT_YET  # empty when it is written
    down: set[int] = field(default_factory=set)
