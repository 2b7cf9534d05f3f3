"""What ``runner status`` says about the records it finds."""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runner.cli import runner
from runner.jobs.status import Now, details, is_current, table
from runner.launcher.record import Record, Tasks, to_json
from tests.unit.launcher.records import RUNNING, event, played

NOW = Now(at=RUNNING.updated + 2, host="login1")
WORKING = replace(
    RUNNING, ends_at=NOW.at + 3600, tasks=Tasks(done=5, failed=1, processing=2, known=9), job_id="7"
)
DEAD = played(WORKING, (1, event("worker died", plan="1", how="killed", replaced=True, log=[])))
ENDED = played(
    WORKING,
    (0, event("signal", name="SIGTERM", number=15)),
    (0, event("stopping", code=143, why="")),
    (1, event("down")),
    (0, event("gone", code=143)),
)


def test_the_table_has_a_line_for_each_job() -> None:
    head, working, dead = table([WORKING, DEAD], NOW).splitlines()
    columns = "job state for time left rank 0 ranks workers deaths tasks program"
    assert " ".join(head.split()) == columns
    assert " ".join(working.split()) == (
        "slurm-7-1000 running 10.0 s 1:00:00 node1 2/2 1 0 5 done, 2 on workers job.py a b"
    )
    assert " ".join(dead.split()).startswith("slurm-7-1000 running 10.0 s 1:00:00 node1 2/2 0 1 ")


def test_all_about_a_job_that_runs() -> None:
    text = details(DEAD, NOW)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "slurm-7-1000: running for 10.0 s"
    for line in (
        "batch job SLURM 7",
        "program job.py a b",
        "ready after 8.0 s",
        "time left 1:00:00",
        "tasks 5 done, 1 failed, 2 on workers, 9 known",
        "scheduler tls://10.0.0.1:1",
        "dashboard http://d",
        "stop scancel 7",
        "deaths 1",
        "0 node1 1000 scheduler, client scheduler 1001, client 1002",
        "1 node2 2000 worker 1 -",
    ):
        assert line in lines, text
    assert any(line.endswith("worker 1 @ node2: killed") for line in lines)


def test_all_about_a_job_that_is_over() -> None:
    text = details(ENDED, NOW)
    assert text.startswith("slurm-7-1000: ended 143 after 12.0 s\n")
    assert "SIGTERM received by rank 0" in text
    for gone in ("dashboard", "time left", "scancel"):
        assert gone not in text


@pytest.mark.parametrize(
    ("record", "seconds", "host", "vanished", "current"),
    [
        (WORKING, 2, "login1", "", True),
        (WORKING, 59, "login1", "", True),
        (WORKING, 61, "login1", "no word from it for 1:01", True),
        (WORKING, 7200, "login1", "no word from it for 2:00:00", True),
        (WORKING, 90000, "login1", "no word from it for 25:00:00", False),
        (WORKING, -30, "login1", "", True),  # clocks differ
        (replace(WORKING, pid=os.getpid()), 2, "node1", "", True),
        (replace(WORKING, pid=2**22 + 1), 2, "node1", f"its process {2**22 + 1} is gone", True),
        (ENDED, 7200, "login1", "", False),
    ],
)
def test_a_job_that_vanished(record: Record, seconds: float, host: str, vanished: str, current: bool) -> None:
    now = Now(at=record.updated + seconds, host=host)
    assert now.vanished(record) == vanished
    assert is_current(record, now) == current
    assert ("VANISHED" in table([record], now)) == bool(vanished)
    assert (f"VANISHED: {vanished}; it was running after" in details(record, now)) == bool(vanished)


def status(folder: Path, *args: str) -> Result:
    return CliRunner().invoke(
        runner, ["status", *args], prog_name="runner", env={"RUNNER_STATUS_DIR": str(folder)}
    )


def write(folder: Path, *records: Record) -> None:
    for record in records:
        (folder / f"{record.name}.json").write_bytes(to_json(record))


def test_without_any_job(tmp_path: Path) -> None:
    result = status(tmp_path / "jobs")
    assert (result.exit_code, result.output) == (0, f"no job is running (records: {tmp_path / 'jobs'})\n")


def test_the_command(tmp_path: Path) -> None:
    living = replace(WORKING, updated=time.time(), name="living")
    write(tmp_path, living, replace(ENDED, name="over", job_id="8"))
    listed = status(tmp_path)
    assert ("living" in listed.output, "over" in listed.output) == (True, False)
    assert "over" in status(tmp_path, "--all").output
    assert "living" in status(tmp_path, "--system", "slurm").output
    assert "no job is running" in status(tmp_path, "--system", "oar").output
    assert status(tmp_path, "over").output.startswith("over: ended 143")
    assert status(tmp_path, "8").output == status(tmp_path, "over").output
    assert "over" in status(tmp_path / "elsewhere", "--all", "--status-dir", str(tmp_path)).output


def test_json_for_programs(tmp_path: Path) -> None:
    here = replace(WORKING, updated=time.time(), host=socket.gethostname(), pid=2**22 + 1)
    write(tmp_path, here)
    (found,) = json.loads(status(tmp_path, "--json").output)
    assert found["vanished"] == f"its process {2**22 + 1} is gone"
    assert (found["name"], found["tasks"]["done"], found["state"]) == ("slurm-7-1000", 5, "running")
    assert json.loads(status(tmp_path, "7", "--json").output)[0]["name"] == "slurm-7-1000"


def test_a_job_that_is_not_there(tmp_path: Path) -> None:
    result = status(tmp_path, "nothing")
    assert result.exit_code == 66
    assert "there is no record of a job 'nothing'" in result.stderr
    assert "no map of that name in" in result.stderr
