"""What is lost on the way, and that the job goes on without it, or ends soon and says why."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster import processes
from tests.cluster.processes import Command
from tests.cluster.testbed import VirtualSlurm
from tests.cluster.ways import JOBS, Way

pytestmark = [pytest.mark.cluster, pytest.mark.slurm]


@pytest.fixture
def four_hosts(slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path) -> Way:
    # as in the job script that `runner jobscript slurm` prints
    return Way("srun", tmp_path, environment, slurm, flags=("--no-kill", "--kill-on-bad-exit=0"))


def wait_for_progress(way: Way, command: Command) -> None:
    end = time.monotonic() + 40
    while not (way.folder / "done").exists():
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stderr
        time.sleep(0.02)


def pid_of(rank: int, host: str, command: Command) -> str:
    """Read a rank's process, in the numbering of its host, from the election's table."""
    row = re.search(rf"^ +{rank} +{host} +(\d+) ", command.stderr, re.MULTILINE)
    assert row is not None, command.stderr
    return row[1]


def test_a_killed_rank_costs_its_workers_only(four_hosts: Way, slurm: VirtualSlurm) -> None:
    with four_hosts.start(JOBS / "outlives.py", "24", ranks=4) as command:
        wait_for_progress(four_hosts, command)
        slurm.run(["kill", "-KILL", pid_of(3, "node4", command)], host="node4", timeout=10)
        (four_hosts.folder / "struck").touch()
        finished = command.wait(timeout=60)
    assert "all done" in finished.stdout
    assert "rank 3 @ node4: lost: its connection ended" in finished.stderr
    assert finished.returncode == 137  # srun's own: one of its tasks was killed
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize("hurt", ["kill_rank", "kill_host", "freeze_host", "cut_host"])
def test_a_lost_host_costs_its_workers_only_and_the_printed_script_ends_with_the_jobs_code(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path, hurt: str
) -> None:
    """``srun`` alone ends with 137 for a killed rank, and waits for ever for a host that hangs."""
    way = Way("srun", tmp_path, environment, slurm)
    (tmp_path / "scratch").mkdir()
    words = ["slurm", "--nodes", "4", "--", "--silence-timeout", "3s", str(JOBS / "outlives.py"), "30"]
    printed = processes.run([sys.executable, "-m", "runner", "jobscript", *words], timeout=30)
    (tmp_path / "job.sh").write_text(printed.stdout)
    submit = ["sbatch", "--parsable", "--output", "out", "job.sh"]
    job = slurm.run(submit, timeout=20, cwd=tmp_path, env=way.variables, submits=True).stdout.strip()
    output = tmp_path / "out"
    wait_for((tmp_path / "done").exists, 40, output)
    if hurt == "kill_rank":
        row = re.search(r"^ +3 +node4 +(\d+) ", output.read_text(), re.MULTILINE)
        assert row is not None
        slurm.run(["kill", "-KILL", row[1]], host="node4", timeout=10)
    else:
        getattr(slurm, hurt)("node4")
    (tmp_path / "struck").touch()
    wait_for(lambda: "rank 3 @ node4: lost" in output.read_text(), 30, output)
    state = ["tb-exec", "head", "scontrol", "--oneliner", "show", "job", job]
    over = "JobState=(COMPLETING|COMPLETED|FAILED|NODE_FAIL)"
    wait_for(lambda: re.search(over, slurm.script(*state)), 60, output)
    assert "ExitCode=0:0 " in slurm.script(*state), output.read_text()
    assert "all done" in output.read_text()
    assert "Traceback" not in output.read_text()


def wait_for(condition: Callable[[], object], seconds: float, output: Path) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, output.read_text() if output.exists() else "no output"
        time.sleep(0.1)
