"""What is lost on the way, and that the job goes on without it, or ends soon and says why."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.cluster.processes import Command
from tests.cluster.testbed import VirtualSlurm
from tests.cluster.ways import JOBS, Way

pytestmark = [pytest.mark.cluster, pytest.mark.slurm]


@pytest.fixture
def four_hosts(slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path) -> Way:
    # as in the job script that `runner jobscript slurm` prints
    return Way("srun", tmp_path, environment, slurm, ("--no-kill", "--kill-on-bad-exit=0"))


def wait_for_progress(way: Way, command: Command) -> None:
    end = time.monotonic() + 40
    while not (way.folder / "done").exists():
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stderr
        time.sleep(0.02)


@pytest.mark.parametrize("hurt", ["kill_host", "freeze_host", "cut_host"])
def test_a_lost_host_costs_its_workers_only(four_hosts: Way, slurm: VirtualSlurm, hurt: str) -> None:
    options = ("--silence-timeout", "3s", JOBS / "outlives.py", "40")
    with four_hosts.start(*options, ranks=4) as command:
        wait_for_progress(four_hosts, command)
        began = time.monotonic()
        getattr(slurm, hurt)("node4")
        while not re.search(r"rank 3 @ node4: lost", command.stderr):
            assert command.running(), command.stderr
            assert time.monotonic() < began + 10, command.stderr
            time.sleep(0.05)
        end = time.monotonic() + 60
        while "all done" not in command.stdout:
            assert command.running() or "all done" in command.stdout, command.stderr
            assert time.monotonic() < end, command.stderr
            time.sleep(0.05)
        assert "Traceback" not in command.stderr
        slurm.thaw_host("node4")  # nothing can kill a frozen process
