"""The block that tells a person, before the job starts, who is where and with what. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.batch.allocation import Allocation
from runner.launcher.facts import RankFacts
from runner.launcher.resources import format_resources
from runner.launcher.roles import Duty
from runner.launcher.walltime import Walltime
from runner.units import format_size

_Row = tuple[str, ...]
_COLUMNS: _Row = ("rank", "host", "pid", "roles", "threads", "memory", "GPU")
_MANY = 32  # more ranks than this are summed up by host


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """What was decided, and how to reach and stop it.

    Attributes
    ----------
    version : str
        Ours and Dask's.
    launcher : str
        Who started the ranks.
    meeting : str
        How they met.
    allocation : Allocation
        The batch job.
    facts, duties : sequences
        Of the ranks that are there, in the same order.
    scheduler : str
        Its address.
    interface : str
        The interface that carries it.
    dashboard : int or None
        The port on the scheduler's loopback address.
    wants_dashboard : bool
        Whether one was asked for.
    encrypted : bool
        Whether connections are.
    seconds : float
        From our start to now.
    walltime : Walltime or None
        When it ends, if it does not end by itself.
    """

    version: str
    launcher: str
    meeting: str
    allocation: Allocation
    facts: Sequence[RankFacts]
    duties: Sequence[Duty]
    scheduler: str
    interface: str
    dashboard: int | None
    wants_dashboard: bool
    encrypted: bool
    seconds: float
    walltime: Walltime | None = None


def describe(election: Election) -> str:
    """Return the block, one line per rank (per host if there are many), without a final newline."""
    facts, duties = election.facts, election.duties
    workers = sum(len(duty.workers) for duty in duties)
    hosts = len({fact.host for fact in facts})
    summary = ", ".join(
        [
            f"{_count(len(facts), 'rank')} on {_count(hosts, 'host')}",
            _count(workers, "worker"),
            f"ready in {election.seconds:.1f} s",
        ]
    )
    lines = [
        f"{election.version}, {_job(election.allocation)}: {summary}",
        *_table(facts, duties),
        *_meeting(election),
        f"  scheduler  {election.scheduler} on {election.interface}, "
        + ("TLS with this job's own certificate" if election.encrypted else "NOT ENCRYPTED (--insecure)"),
        *_dashboard(election),
        *_end(election.walltime),
        f"  stop       {_how_to_stop(election)}",
    ]
    return "\n".join(lines)


def reach(election: Election) -> dict[str, str]:
    """Return how to reach and stop the job, each as one line, for its record."""
    return {
        "scheduler": election.scheduler,
        "dashboard": _dashboard_address(election) if election.dashboard is not None else "",
        "stop_with": _how_to_stop(election),
    }


def _table(facts: Sequence[RankFacts], duties: Sequence[Duty]) -> list[str]:
    rows: list[_Row] = [_COLUMNS]
    if len(facts) <= _MANY:
        rows += [_row(fact, duty) for fact, duty in zip(facts, duties, strict=True)]
    else:
        rows += _rows_by_host(facts, duties)
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _row(fact: RankFacts, duty: Duty) -> _Row:
    roles = ["scheduler"] * duty.scheduler + ["client"] * duty.client
    if duty.workers:
        roles.append("worker" if len(duty.workers) == 1 else f"{len(duty.workers)} workers")
    if fact.resources and duty.workers:
        roles[-1] += f" ({format_resources(fact.resources)})"
    each = " each" if len(duty.workers) > 1 else ""
    first = duty.workers[0] if duty.workers else None
    gpus = ",".join(plan.gpu + "*" * plan.shared_gpu for plan in duty.workers if plan.gpu is not None)
    return (
        str(fact.rank),
        fact.host,
        str(fact.pid),
        " + ".join(roles) or "-",
        f"{first.threads}{each}" if first else "-",
        f"{format_size(first.memory)}{each}" if first else "-",
        gpus or "-",
    )


def _rows_by_host(facts: Sequence[RankFacts], duties: Sequence[Duty]) -> list[_Row]:
    by_host: Mapping[str, list[tuple[RankFacts, Duty]]] = {fact.host: [] for fact in facts}
    for fact, duty in zip(facts, duties, strict=True):
        by_host[fact.host].append((fact, duty))
    rows: list[_Row] = []
    for host, members in by_host.items():
        plans = [plan for _, duty in members for plan in duty.workers]
        roles = ["scheduler"] * any(duty.scheduler for _, duty in members)
        roles += ["client"] * any(duty.client for _, duty in members)
        roles.append(_count(len(plans), "worker"))
        rows.append(
            (
                f"{members[0][0].rank}..{members[-1][0].rank}",
                host,
                "",
                " + ".join(roles),
                str(sum(plan.threads for plan in plans)),
                format_size(sum(plan.memory for plan in plans)),
                str(len({plan.gpu for plan in plans if plan.gpu is not None}) or "-"),
            )
        )
    return rows


def _meeting(election: Election) -> list[str]:
    if election.launcher == "none":
        return []
    return [f"  ranks      started by {election.launcher}, met by {election.meeting}"]


def _dashboard(election: Election) -> list[str]:
    if election.dashboard is None:
        hint = "  dashboard  not installed: pip install 'tomo-runner[dashboard]'"
        return [hint] if election.wants_dashboard else []
    return [f"  dashboard  {_dashboard_address(election)}"]


def _dashboard_address(election: Election) -> str:
    port = election.dashboard
    address = f"http://127.0.0.1:{port}/status"
    if election.launcher == "none":
        return address
    return f"{address} after: ssh -N -L {port}:127.0.0.1:{port} {election.facts[0].host}"


def _end(walltime: Walltime | None) -> list[str]:
    if walltime is None:
        return []
    told = f", the job is told {walltime.drain} s before it is stopped" if walltime.drain else ""
    return [f"  end        {walltime.reason}{told}"]


def _how_to_stop(election: Election) -> str:
    if election.allocation.cancel_command and election.launcher != "none":
        return f"{election.allocation.cancel_command}, or Ctrl-C where it was started"
    return f"Ctrl-C, or kill {election.facts[0].pid} on {election.facts[0].host}"


def _job(allocation: Allocation) -> str:
    if allocation.job_id is None:
        return "no batch system"
    return f"{allocation.system.upper()} job {allocation.job_id}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
