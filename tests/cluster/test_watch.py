"""What a person sees of a job: while it runs, from another machine, and afterwards."""

from __future__ import annotations

import json
import signal
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.processes import Command, run
from tests.cluster.testbed import VirtualSlurm
from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster


def status_argv(way: Way, *words: str) -> list[str]:
    return [sys.executable, "-m", "runner", "status", "--status-dir", str(way.folder / "status"), *words]


def status(way: Way, *words: str) -> str:
    """Ask for the status on the machine where the job runs, or on the login host of its cluster."""
    argv = status_argv(way, *words)
    if isinstance(way.launcher, VirtualSlurm):
        finished = way.launcher.run(argv, timeout=20, env=way.environment)
    else:
        finished = run(argv, timeout=20, env=way.environment)
    assert (finished.returncode, finished.stderr) == (0, "")
    return finished.stdout


def wait_until_it_sleeps(way: Way, command: Command) -> dict[str, Any]:
    """Return the record of a job that runs, once it says so."""
    end = time.monotonic() + 40
    while True:
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stderr
        for file in (way.folder / "status").glob("[!.]*.json"):
            record: dict[str, Any] = json.loads(file.read_text())
            if record["state"] == "running":
                return record
        time.sleep(0.05)


@pytest.fixture
def srun(slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path) -> Way:
    return Way("srun", tmp_path, environment, slurm, flags=("--time", "5"))


@pytest.mark.slurm
def test_a_job_is_seen_from_the_login_host(srun: Way, slurm: VirtualSlurm) -> None:
    with srun.start("--logs", "logs", JOBS / "sleeps.py", ranks=4) as command:
        record = wait_until_it_sleeps(srun, command)
        assert [rank["host"] for rank in record["ranks"]] == ["node1", "node2", "node3", "node4"]
        (line,) = status(srun).splitlines()[1:]
        assert line.split()[:2] == [record["name"], "running"]
        assert " 4/4 " in line
        text = status(srun, record["job_id"])
        for part in ("time left", "scheduler, client, worker 0", f"scancel {record['job_id']}", "ssh -N -L"):
            assert part in text
        slurm.cancel({record["job_id"]})
        command.wait(timeout=30)
    assert status(srun).startswith("no job is running")
    assert "ended 143" in status(srun, record["job_id"])
    names = {file.name.partition(".")[0]: file for file in (srun.folder / "logs" / record["name"]).iterdir()}
    assert sorted(names) == ["rank-0000", "rank-0001", "rank-0002", "rank-0003"]


def test_a_job_that_was_killed_is_called_vanished(local: Way) -> None:
    with local.start(JOBS / "sleeps.py", ranks=1) as command:
        record = wait_until_it_sleeps(local, command)
        command.signal(signal.SIGKILL)
        command.wait(timeout=10)
    text = status(local, record["name"])
    assert f"VANISHED: its process {record['pid']} is gone; it was running" in text


def test_a_worker_that_died_is_seen_while_the_job_runs(local: Way) -> None:
    with local.start("--logs", "logs", JOBS / "sleeps.py", ranks=2) as command:
        record = wait_until_it_sleeps(local, command)
        processes = {process["name"]: process["pid"] for process in record["ranks"][0]["processes"]}
        run(["kill", "-9", str(processes["worker-0-1"])], timeout=5)
        end = time.monotonic() + 40
        while "worker-0-1.1" not in (text := status(local, record["name"])):
            assert time.monotonic() < end, text
        assert "worker 0-1 @ " in text
        assert "killed by signal 9 (SIGKILL)" in text
    log = next((local.folder / "logs" / record["name"]).glob("rank-0000.*.supervisor.log")).read_text()
    assert "worker-0-1.1 is ready" in log
    assert "started again" in log  # what was said to people


@pytest.mark.parametrize(
    ("how", "code", "reason"),
    [
        ("raise", 1, "job ended with exit code 1"),
        ("SIGKILL", 137, "job killed by signal 9 (SIGKILL)"),
        ("busy", 0, "job ended with exit code 0"),
    ],
)
def test_summary_and_report_however_it_ends(local: Way, how: str, code: int, reason: str) -> None:
    result = local.run("--summary", "summary.json", "--report", "report.html", JOBS / "ends.py", how, ranks=2)
    assert result.code == code, result.err
    summary = json.loads((local.folder / "summary.json").read_text())
    assert (summary["exit_code"], summary["reason"], summary["state"]) == (code, reason, "ended")
    assert set(summary["timings"]) == {"start", "run", "stop"}
    assert summary["ranks"][0]["duties"] == ["scheduler", "client", "worker 0-0", "worker 0-1"]
    assert (local.folder / "report.html").exists(), result.err
    page = (local.folder / "report.html").read_text()
    assert "Dask Performance Report" in page
    assert "number of tasks: 1 " in page  # all naps are alike, Dask takes one


def test_a_summary_of_a_job_that_never_began(local: Way) -> None:
    result = local.run("--roles", "dedicated", "--summary", "summary.json", JOBS / "ends.py", "success")
    assert result.code == 64
    summary = json.loads((local.folder / "summary.json").read_text())
    assert (summary["exit_code"], summary["ready"]) == (64, None)
    assert "--roles dedicated needs 3 ranks" in summary["reason"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def kinds(files: Sequence[Path]) -> list[str]:
    return sorted(file.name.split(".", 2)[2] for file in files)


def test_logs_of_every_process_and_only_there(local: Way) -> None:
    result = local.run("--logs", "logs", "--quiet", JOBS / "ends.py", "success", ranks=2)
    assert (result.code, result.said) == (0, "")
    (folder,) = (local.folder / "logs").iterdir()
    assert mode(folder) == 0o700
    files = list(folder.iterdir())
    assert kinds(files) == ["scheduler.log", "supervisor.log", "worker-0-0.log", "worker-0-1.log"]
    assert all(file.name.startswith("rank-0000.") for file in files)


def test_verbose_shows_who_logs_what(local: Way) -> None:
    result = local.run("-v", "--quiet", JOBS / "ends.py", "success", ranks=1)
    assert result.code == 0
    beginnings = {line.split(": ")[0].split()[-1] for line in result.err.splitlines() if " @ " in line}
    assert {"supervisor", "scheduler", "worker-0"} <= beginnings
    assert "rank 0 says: stop" in result.err
