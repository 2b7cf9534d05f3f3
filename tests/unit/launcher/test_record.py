"""What each event changes in the record of a job, and that the record survives its file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.batch.allocation import Allocation
from runner.launcher.record import Death, ProcessRecord, Tasks, from_json, name_job, to_json
from tests.unit.launcher.ranks import rank
from tests.unit.launcher.records import NEW, RUNNING, UP, event, played, ready


def test_the_start() -> None:
    first, second = RUNNING.ranks
    assert (first.rank, first.host, first.pid, first.since) == (0, "node1", 1000, 102.0)
    assert (first.duties, second.duties) == (("scheduler", "client"), ("worker 1",))
    assert [process.name for process in first.processes] == ["scheduler", "client"]
    assert second.processes == (ProcessRecord(kind="worker", name="worker-1", pid=2001, since=106.0),)
    assert (RUNNING.state, RUNNING.ready, RUNNING.exit_code) == ("running", 108.0, None)
    assert (RUNNING.scheduler, RUNNING.dashboard, RUNNING.stop_with) == (
        "tls://10.0.0.1:1",
        "http://d",
        "scancel 7",
    )
    assert RUNNING.timings == {"start": 8.0}


def test_a_worker_dies_and_comes_back() -> None:
    dead = played(RUNNING, (1, event("worker died", plan="1", how="killed", replaced=True, log=[])))
    assert dead.rank(1) == replace(RUNNING.ranks[1], processes=())
    assert dead.deaths == (Death(who="worker 1", rank=1, host="node2", at=109.0, how="killed"),)
    back = played(dead, (1, ready("worker", "worker-1.1", 2002)))
    again = played(back, (1, event("worker died", plan="1", how="killed", replaced=True, log=[])))
    assert again.ranks[1].processes == ()
    assert again.death_count == 2


def test_of_many_deaths_the_last_are_kept_and_all_are_counted() -> None:
    death = (1, event("worker died", plan="1", how="killed", replaced=True, log=[]))
    record = played(RUNNING, *[death] * 250)
    assert record.death_count == 250
    assert len(record.deaths) == 100
    assert record.deaths[-1].at == record.updated


def test_a_lost_rank() -> None:
    lost = played(RUNNING, (1, event("lost", how="its connection ended")))
    assert lost.ranks[1].lost == "its connection ended"
    assert lost.ranks[1].processes == ()
    assert [(death.who, death.host) for death in lost.deaths] == [("rank 1", "node2")]


@pytest.mark.parametrize(
    ("events", "reason", "deaths"),
    [
        ([(0, event("ended", kind="client", code=3, log=[]))], "job ended with exit code 3", 0),
        ([(0, event("ended", kind="client", code=137, log=[]))], "job killed by signal 9 (SIGKILL)", 0),
        ([(0, event("ended", kind="scheduler", code=137, log=[]))], "why", 1),
        (
            [
                (1, event("signal", name="SIGTERM", number=15)),
                (0, event("signal", name="SIGTERM", number=15)),
            ],
            "SIGTERM received by rank 1",
            0,
        ),
        (
            [
                (0, event("signal", name="SIGINT", number=2)),
                (0, event("ended", kind="client", code=130, log=[])),
            ],
            "SIGINT received by rank 0",
            0,
        ),
        ([(0, event("walltime", reason="--time-limit 3 s"))], "stopped by the walltime: --time-limit 3 s", 0),
        ([], "why", 0),
    ],
)
def test_why_it_stops(events: list[tuple[int, dict[str, Any]]], reason: str, deaths: int) -> None:
    stopping = played(RUNNING, *events, (0, event("stopping", code=5, why="why")))
    assert (stopping.state, stopping.reason, stopping.exit_code) == ("stopping", reason, 5)
    assert stopping.death_count == deaths


def test_the_end() -> None:
    ended = played(
        RUNNING,
        (0, event("stopping", code=0, why="")),
        (1, event("down")),
        (1, event("lost", how="its connection ended")),  # as it should
        (0, event("gone", code=0)),
    )
    assert (ended.state, ended.exit_code, ended.ended, ended.death_count) == ("ended", 0, 112.0, 0)
    assert ended.timings == {"start": 8.0, "run": 1.0, "stop": 3.0}
    assert ended.ranks[1].processes == ()


def test_tasks_and_what_is_no_business_of_the_record() -> None:
    counts = {"done": 3, "failed": 1, "processing": 2, "known": 9}
    counted = played(RUNNING, (0, event("tasks", counts=counts, kind="scheduler", name="scheduler", pid=1)))
    assert counted.tasks == Tasks(**counts)
    assert played(counted, (0, event("report", problem=""))) == replace(counted, updated=counted.updated + 1)


MESSAGES = st.sampled_from(
    [
        *UP,
        (1, event("worker died", plan="1", how="killed", replaced=True, log=[])),
        (2, event("lost", how="gone")),
        (1, event("down")),
        (0, event("tasks", counts={"done": 1, "failed": 0, "processing": 0, "known": 1})),
        (0, event("ended", kind="client", code=1, log=[])),
        (0, event("signal", name="SIGTERM", number=15)),
        (0, event("stopping", code=1, why="\N{SNOWMAN}")),
        (0, event("gone", code=1)),
    ]
)


@given(st.lists(MESSAGES, max_size=30))
def test_it_comes_back_from_its_file_whatever_happened(events: list[tuple[int, dict[str, Any]]]) -> None:
    record = played(NEW, *events)
    assert from_json(to_json(record)) == record


def test_every_cut_is_noticed() -> None:
    content = to_json(RUNNING).rstrip()
    for length in range(len(content)):
        with pytest.raises(ValueError, match=r"."):
            from_json(content[:length])


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'"text"', b'{"format": 99}', b"\xff"])
def test_anything_else_is_no_record(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(content)


@pytest.mark.parametrize(
    ("system", "job_id", "name"),
    [
        ("none", None, "node1-1003"),
        ("slurm", "7_2", "slurm-7_2-1003"),
        ("pbs", "12[3].server/x", "pbs-12_3_.server_x-1003"),
    ],
)
def test_the_name_is_good_for_files(system: str, job_id: str | None, name: str) -> None:
    assert name_job(Allocation(system=system, job_id=job_id), rank(3)) == name
