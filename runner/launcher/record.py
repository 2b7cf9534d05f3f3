"""What there is to know about a job, as one value, and how each event changes it. Pure.

Rank 0 keeps it up to date (see ``journal``); ``runner status`` reads it on another machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from runner.batch.allocation import Allocation
from runner.launcher.channel import Message
from runner.launcher.exits import describe
from runner.launcher.facts import RankFacts

_FORMAT = 1
_MANY_DEATHS = 100  # of more than this the last ones are kept

State = Literal["starting", "running", "stopping", "ended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecord:
    """A process of a rank that is ready: ``"scheduler"``, ``"client"`` or ``"worker"``."""

    kind: str
    name: str
    pid: int
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRecord:
    """A rank that arrived.

    Attributes
    ----------
    rank, host, pid : int, str, int
        Which one, where, and its supervisor.
    since : float
        When it arrived, seconds since 1970.
    duties : tuple of str
        ``"scheduler"``, ``"client"``, ``"worker 3-0"``; empty until the roles are given.
    lost : str
        How it was lost, empty if it was not.
    processes : tuple of ProcessRecord
        Those that are ready now.
    """

    rank: int
    host: str
    pid: int
    since: float
    duties: tuple[str, ...] = ()
    lost: str = ""
    processes: tuple[ProcessRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """A process or a rank that ended before its time; `at` in seconds since 1970."""

    who: str
    rank: int
    host: str
    at: float
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """Dask's tasks: how many are done (or failed) since the start, run or wait on workers, and are known."""

    done: int
    failed: int
    processing: int
    known: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One start of one job. All times are seconds since 1970.

    Attributes
    ----------
    name : str
        Unique among the user's jobs; names its files.
    version : str
        Of the runner.
    system, job_id : str, str or None
        The batch system and its name of the job.
    program : tuple of str
        The job's command line.
    host, pid : str, int
        Of rank 0.
    size : int
        How many ranks there should be.
    started, updated : float
        When rank 0 began, and when this record was last known to be true.
    ready, stopping, ended : float or None
        When the program began, when the stop began, and when all was gone.
    ends_at : float or None
        When the batch system will end the job, if it says so.
    state : {"starting", "running", "stopping", "ended"}
        Where in its life the job is.
    reason : str
        Why it stops.
    exit_code : int or None
        The job's, once it is known.
    scheduler : str
        The address of Dask's scheduler.
    dashboard : str
        Where the dashboard is, and how to get there; empty without one.
    stop_with : str
        How to stop the job.
    ranks : tuple of RankRecord
        In order.
    deaths : tuple of Death
        The latest ones, in order.
    death_count : int
        All of them.
    tasks : Tasks or None
        None until the scheduler told.
    """

    name: str
    version: str
    system: str
    job_id: str | None
    program: tuple[str, ...]
    host: str
    pid: int
    size: int
    started: float
    updated: float
    ready: float | None = None
    stopping: float | None = None
    ended: float | None = None
    ends_at: float | None = None
    state: State = "starting"
    reason: str = ""
    exit_code: int | None = None
    scheduler: str = ""
    dashboard: str = ""
    stop_with: str = ""
    ranks: tuple[RankRecord, ...] = ()
    deaths: tuple[Death, ...] = ()
    death_count: int = 0
    tasks: Tasks | None = None

    def rank(self, number: int) -> RankRecord | None:
        """Return a rank, None if it did not arrive."""
        return next((entry for entry in self.ranks if entry.rank == number), None)

    @property
    def timings(self) -> dict[str, float]:
        """Seconds that the start, the program and the stop took, as far as they are over."""
        moments = {"start": self.started, "run": self.ready, "stop": self.stopping, "": self.ended}
        known = [(name, at) for name, at in moments.items() if at is not None]
        return {name: round(until - at, 3) for (name, at), (_, until) in pairwise(known)}


def name_job(allocation: Allocation, facts: RankFacts) -> str:
    """Name a job by the batch system's number, else by the host, and by the process of rank 0.

    A batch job may start us several times, and several at once.
    """
    job = f"{allocation.system}-{allocation.job_id}" if allocation.job_id else facts.host
    return re.sub(r"[^A-Za-z0-9._-]+", "_", f"{job}-{facts.pid}")


def after(record: Record, rank: int, message: Message, at: float) -> Record:
    """Return the record after an event.

    Parameters
    ----------
    record : Record
        Before it.
    rank : int
        Which rank reports it.
    message : dict
        What a rank says to rank 0 (see ``member``), or what rank 0 itself does: ``duty``, ``running``,
        ``stopping``, ``gone``. Others change nothing.
    at : float
        Now, seconds since 1970.
    """
    change = _CHANGES.get(message["event"])
    record = replace(record, updated=at)
    return change(record, rank, message, at) if change else record


def to_json(record: Record) -> bytes:
    """Write a record for programs and people."""
    content = {"format": _FORMAT, **asdict(record), "timings": record.timings}
    return json.dumps(content, indent=1).encode() + b"\n"


def from_json(content: bytes) -> Record:
    """Read what :func:`to_json` wrote.

    Raises
    ------
    ValueError
        If it is something else: cut short, or of another version.
    """
    try:
        read = json.loads(content)
        if read.pop("format") != _FORMAT:
            raise ValueError("written by another version")
        read.pop("timings")
        ranks = (
            RankRecord(
                **{
                    **entry,
                    "duties": tuple(entry["duties"]),
                    "processes": tuple(ProcessRecord(**process) for process in entry["processes"]),
                }
            )
            for entry in read["ranks"]
        )
        return Record(
            **{
                **read,
                "program": tuple(read["program"]),
                "ranks": tuple(ranks),
                "deaths": tuple(Death(**death) for death in read["deaths"]),
                "tasks": None if read["tasks"] is None else Tasks(**read["tasks"]),
            }
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a record of a job ({error})") from error


def _duties(duty: Mapping[str, Any]) -> tuple[str, ...]:
    roles = [role for role in ("scheduler", "client") if duty[role]]
    return (*roles, *(f"worker {plan['name']}" for plan in duty["workers"]))


def _with_rank(record: Record, rank: int, **changes: Any) -> Record:
    ranks = (replace(entry, **changes) if entry.rank == rank else entry for entry in record.ranks)
    return replace(record, ranks=tuple(ranks))


def _without_process(record: Record, rank: int, name: str) -> Record:
    entry = record.rank(rank)
    left = (process for process in entry.processes if process.name != name) if entry else ()
    return _with_rank(record, rank, processes=tuple(left))


def _name_of_worker(record: Record, rank: int, plan: str) -> str:
    """Return the name of the process that carries out a plan: after n deaths it ends in ``.n``."""
    entry = record.rank(rank)
    names = (process.name for process in entry.processes) if entry else ()
    return next((name for name in names if name.partition(".")[0] == f"worker-{plan}"), "")


def _with_death(record: Record, rank: int, who: str, at: float, how: str) -> Record:
    entry = record.rank(rank)
    death = Death(who=who, rank=rank, host=entry.host if entry else "", at=at, how=how)
    deaths = (*record.deaths, death)[-_MANY_DEATHS:]
    return replace(record, deaths=deaths, death_count=record.death_count + 1)


# -- what each event changes ----------------------------------------------------------------------------


def _arrived(record: Record, rank: int, message: Message, at: float) -> Record:
    entry = RankRecord(rank=rank, host=message["host"], pid=message["pid"], since=at)
    return replace(record, ranks=tuple(sorted((*record.ranks, entry), key=lambda entry: entry.rank)))


def _got_duty(record: Record, rank: int, message: Message, _at: float) -> Record:
    return _with_rank(record, rank, duties=_duties(message["duty"]))


def _is_ready(record: Record, rank: int, message: Message, at: float) -> Record:
    process = ProcessRecord(kind=message["kind"], name=message["name"], pid=message["pid"], since=at)
    entry = record.rank(rank)
    return _with_rank(record, rank, processes=(*entry.processes, process) if entry else ())


def _worker_died(record: Record, rank: int, message: Message, at: float) -> Record:
    plan = message["plan"]
    left = _without_process(record, rank, _name_of_worker(record, rank, plan))
    return _with_death(left, rank, f"worker {plan}", at, message["how"])


def _process_ended(record: Record, rank: int, message: Message, at: float) -> Record:
    kind, how = message["kind"], describe(message["code"])
    left = _without_process(record, rank, kind)
    if kind == "client":
        return replace(left, reason=record.reason or f"job {how}")
    return _with_death(left, rank, kind, at, how)


def _signalled(record: Record, rank: int, message: Message, _at: float) -> Record:
    return replace(record, reason=record.reason or f"{message['name']} received by rank {rank}")


def _time_is_over(record: Record, _rank: int, message: Message, _at: float) -> Record:
    return replace(record, reason=record.reason or f"stopped by the walltime: {message['reason']}")


def _rank_lost(record: Record, rank: int, message: Message, at: float) -> Record:
    if record.state == "stopping":  # its connection ends because it does
        return record
    return _with_death(
        _with_rank(record, rank, lost=message["how"], processes=()), rank, f"rank {rank}", at, message["how"]
    )


def _is_down(record: Record, rank: int, _message: Message, _at: float) -> Record:
    return _with_rank(record, rank, processes=())


def _counted(record: Record, _rank: int, message: Message, _at: float) -> Record:
    return replace(record, tasks=Tasks(**message["counts"]))


def _running(record: Record, _rank: int, message: Message, at: float) -> Record:
    reach = {name: message[name] for name in ("scheduler", "dashboard", "stop_with")}
    return replace(record, state="running", ready=at, **reach)


def _stopping(record: Record, _rank: int, message: Message, at: float) -> Record:
    reason = record.reason or message["why"]
    return replace(record, state="stopping", stopping=at, exit_code=message["code"], reason=reason)


def _gone(record: Record, _rank: int, message: Message, at: float) -> Record:
    return replace(record, state="ended", ended=at, exit_code=message["code"])


_CHANGES: Mapping[str, Callable[[Record, int, Message, float], Record]] = {
    "hello": _arrived,
    "duty": _got_duty,
    "ready": _is_ready,
    "worker died": _worker_died,
    "ended": _process_ended,
    "signal": _signalled,
    "walltime": _time_is_over,
    "lost": _rank_lost,
    "down": _is_down,
    "tasks": _counted,
    "running": _running,
    "stopping": _stopping,
    "gone": _gone,
}
