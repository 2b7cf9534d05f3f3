"""A job's record as tests write it: what happened, in order."""

from __future__ import annotations

from typing import Any

from runner.launcher.record import Record, after
from runner.launcher.roles import Duty, WorkerPlan

NEW = Record(
    name="slurm-7-1000",
    version="0.1.0",
    system="slurm",
    job_id="7",
    program=("job.py", "a b"),
    host="node1",
    pid=1000,
    size=2,
    started=100.0,
    updated=100.0,
)
PLAN = WorkerPlan(name="1", threads=1, memory=1 << 30)
DUTIES = (Duty(rank=0, scheduler=True, client=True), Duty(rank=1, workers=(PLAN,)))


def event(name: str, /, **more: Any) -> dict[str, Any]:
    return {"event": name, **more}


def ready(kind: str, name: str, pid: int) -> dict[str, Any]:
    return event("ready", kind=kind, name=name, pid=pid, plan="1", address="tls://10.0.0.1:1")


UP = [
    (1, event("hello", host="node2", pid=2000)),
    (0, event("hello", host="node1", pid=1000)),
    *((duty.rank, event("duty", duty=duty.to_message())) for duty in DUTIES),
    (0, ready("scheduler", "scheduler", 1001)),
    (1, ready("worker", "worker-1", 2001)),
    (0, ready("client", "client", 1002)),
    (0, event("running", scheduler="tls://10.0.0.1:1", dashboard="http://d", stop_with="scancel 7")),
]


def played(record: Record, *events: tuple[int, dict[str, Any]]) -> Record:
    """The record after events, one a second."""
    for number, message in events:
        record = after(record, number, message, record.updated + 1)
    return record


RUNNING = played(NEW, *UP)
