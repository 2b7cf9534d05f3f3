"""The tool ``runner status``: how the user's jobs are, from any machine that sees their records."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import click

from runner.errors import MissingFileError, StartError, UsageError
from runner.jobs.request_options import SYSTEMS
from runner.launcher.record import Record
from runner.units import format_duration

_STALE_SECONDS = 60.0  # a living job writes every few seconds
_FORGOTTEN_SECONDS = 86400.0  # what vanished longer ago is listed with --all only
_COLUMNS = ("job", "state", "for", "time left", "rank 0", "ranks", "workers", "deaths", "tasks", "program")
_WIDEST_PROGRAM = 40
_SHOWN_DEATHS = 10

_Row = tuple[str, ...]


@click.command(short_help="Show the jobs that run, or one of them.")
@click.argument("job", required=False)
@click.option("--all", "everything", is_flag=True, help="List jobs that are over as well.")
@click.option("--system", type=click.Choice(SYSTEMS), help="Jobs of this batch system alone.")
@click.option("--watch", is_flag=True, help="Of a map: show its state until it is over.")
@click.option("--json", "as_json", is_flag=True, help="Print the records as JSON, for programs.")
@click.option(
    "--status-dir",
    "folder",
    type=click.Path(path_type=Path),
    help="Where the jobs keep their records. [default: RUNNER_STATUS_DIR or ~/.cache/runner/jobs]",
)
def command(
    *,
    job: str | None,
    everything: bool,
    system: str | None,
    watch: bool,
    as_json: bool,
    folder: Path | None,
) -> None:
    """Show the jobs that run; or all about JOB: a name of the list, the batch system's number, or a map."""
    from runner.launcher.journal import default_folder, read_records
    from runner.maps.layout import maps_folder

    folder = folder or default_folder()
    now = Now(at=time.time(), host=socket.gethostname())
    records = [record for record in read_records(folder) if system is None or record.system == kind(system)]
    if job is not None:
        records = [record for record in records if job in (record.name, record.job_id)]
        if not records and show_map(job, watch=watch, as_json=as_json):
            return
        if not records and not as_json and (queued := in_queue(job, system)):
            click.echo(queued)
            return
        if not records:
            maps = maps_folder(os.environ)
            raise MissingFileError(
                f"there is no record of a job {job!r} in {folder}, and no map of that name in {maps}",
                "see: runner status --all, runner maps; --status-dir and RUNNER_MAPS name other folders",
            )
    elif not everything:
        records = [record for record in records if is_current(record, now)]
    if as_json:
        click.echo(json.dumps([for_programs(record, now) for record in records], indent=1))
    elif job is not None:
        click.echo("\n\n".join(details(record, now) for record in records))
    else:
        click.echo(table(records, now) if records else f"no job is running (records: {folder})")


def show_map(name: str, *, watch: bool, as_json: bool) -> bool:
    """Show how a map is, if there is one of that name; tell whether there is."""
    from runner.jobs.map_status import show
    from runner.maps.map import open_map

    try:
        opened = open_map(name)
    except MissingFileError:
        return False
    show(opened, watch=watch, as_json=as_json)
    return True


def kind(system: str) -> str:
    """Return the batch system of a job script, as the records name it."""
    from runner.batch.queue.systems import batch_system

    return batch_system(system).name


def in_queue(job: str, system: str | None = None) -> str:
    """Say how a job is that has no record (yet), if a batch system here knows it; empty if none does."""
    from runner.jobs.followed import follow

    try:
        found = follow(job, system)
        state = found.state()
    except (StartError, UsageError):  # no batch system here, several, or none that answers
        return ""
    if state is None:
        return ""
    code = "" if state.exit_code is None else f", exit code {state.exit_code}"
    return f"{found.title}: {state.word}{code}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """From when and where we look at the records."""

    at: float
    host: str

    def vanished(self, record: Record) -> str:
        """Say why a job that is not over cannot be running any more; empty if it can."""
        if record.state == "ended":
            return ""
        if record.host == self.host and not _is_alive(record.pid):
            return f"its process {record.pid} is gone"
        silence = self.at - record.updated
        return f"no word from it for {format_duration(silence)}" if silence > _STALE_SECONDS else ""


def is_current(record: Record, now: Now) -> bool:
    """Tell whether a job belongs into the list of those that run: it does, or it vanished lately."""
    if record.state == "ended":
        return False
    return not now.vanished(record) or now.at - record.updated < _FORGOTTEN_SECONDS


def for_programs(record: Record, now: Now) -> dict[str, object]:
    """Return a record as plain values, with our judgement whether the job is still there."""
    from runner.launcher.record import to_json

    return {**json.loads(to_json(record)), "vanished": now.vanished(record)}


def table(records: Sequence[Record], now: Now) -> str:
    """Return one line per job."""
    return _align([_COLUMNS, *(_row(record, now) for record in records)])


def details(record: Record, now: Now) -> str:
    """Return all about one job."""
    values = {
        "batch job": f"{record.system.upper()} {record.job_id}" if record.job_id else "",
        "program": " ".join(record.program),
        "started": _clock(record.started),
        "ready": "" if record.ready is None else f"after {format_duration(record.ready - record.started)}",
        "reason": record.reason,
        "exit code": "" if record.exit_code is None else str(record.exit_code),
        "time left": _time_left(record, now),
        "tasks": _all_tasks(record),
        "scheduler": record.scheduler if record.state == "running" else "",
        "dashboard": record.dashboard if record.state == "running" else "",
        "stop": record.stop_with if record.state == "running" and not now.vanished(record) else "",
        "deaths": str(record.death_count or ""),
    }
    vanished = now.vanished(record)
    state = f"VANISHED: {vanished}; it was {record.state}" if vanished else _state(record, now)
    link = "after" if record.state == "ended" or vanished else "for"
    lines = [f"{record.name}: {state} {link} {_age(record, now)}"]
    lines += [f"  {name:<10} {value}" for name, value in values.items() if value]
    lines += [
        f"    {_clock(death.at)}  {death.who} @ {death.host}: {death.how}"
        for death in record.deaths[-_SHOWN_DEATHS:]
    ]
    return "\n".join([*lines, _ranks(record)])


def _row(record: Record, now: Now) -> _Row:
    program = " ".join(record.program)
    return (
        record.name,
        _state(record, now),
        _age(record, now),
        _time_left(record, now) or "-",
        record.host,
        f"{_living(record)}/{record.size}",
        str(_workers(record)),
        str(record.death_count),
        f"{record.tasks.done} done, {record.tasks.processing} on workers" if record.tasks else "-",
        program if len(program) <= _WIDEST_PROGRAM else f"{program[: _WIDEST_PROGRAM - 3]}...",
    )


def _ranks(record: Record) -> str:
    rows: list[_Row] = [("rank", "host", "pid", "duties", "processes")]
    rows += [
        (
            str(rank.rank),
            rank.host,
            str(rank.pid),
            ", ".join(rank.duties) or "-",
            f"LOST: {rank.lost}"
            if rank.lost
            else ", ".join(f"{process.name} {process.pid}" for process in rank.processes) or "-",
        )
        for rank in record.ranks
    ]
    return "\n".join(f"  {line}" for line in _align(rows).splitlines())


def _align(rows: Sequence[_Row]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _state(record: Record, now: Now) -> str:
    if now.vanished(record):
        return "VANISHED"
    return record.state if record.exit_code is None else f"{record.state} {record.exit_code}"


def _age(record: Record, now: Now) -> str:
    """Return for how long the job has been, or was, there."""
    until = record.ended or (record.updated if now.vanished(record) else now.at)
    return format_duration(max(0.0, until - record.started))


def _time_left(record: Record, now: Now) -> str:
    if record.ends_at is None or record.state == "ended" or now.vanished(record):
        return ""
    return format_duration(max(0.0, record.ends_at - now.at))


def _all_tasks(record: Record) -> str:
    tasks = record.tasks
    if tasks is None:
        return ""
    return f"{tasks.done} done, {tasks.failed} failed, {tasks.processing} on workers, {tasks.known} known"


def _living(record: Record) -> int:
    return sum(not rank.lost for rank in record.ranks)


def _workers(record: Record) -> int:
    return sum(process.kind == "worker" for rank in record.ranks for process in rank.processes)


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
