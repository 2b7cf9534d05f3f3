"""Ranks started by `runner launch-hosts` over real ssh, on four hosts with an sshd each."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from runner.tomo.simulate import Settings, write_scan
from tests.cluster.processes import Command
from tests.cluster.testbed import VirtualCluster
from tests.cluster.ways import Way

pytestmark = [pytest.mark.cluster, pytest.mark.hosts]

Start = Callable[..., Command]

SLEEPS = """
import time
from dask.distributed import Client

print("workers", len(Client().scheduler_info(n_workers=-1)["workers"]), flush=True)
time.sleep(100)
"""


@pytest.fixture
def start(hosts: VirtualCluster, environment: dict[str, str], tmp_path: Path) -> Start:
    """Start the runner on ranks of hosts, from the head."""
    (tmp_path / "scratch").mkdir()
    folders = {
        "RUNNER_RENDEZVOUS_DIR": str(tmp_path / "meet"),
        "RUNNER_SCRATCH": str(tmp_path / "scratch"),
        "RUNNER_STATUS_DIR": str(tmp_path / "status"),
    }

    def launch(where: str, *words: str | Path) -> Command:
        runner = (sys.executable, "-m", "runner")
        argv = [*runner, "launch-hosts", "--hosts", where, "--", *runner, *words]
        return hosts.start(argv, cwd=tmp_path, env=environment | folders)

    return launch


def check_nothing_is_left(folder: Path) -> None:
    left = [*(folder / "scratch").iterdir(), *(folder / "meet").glob("*")]
    assert not left


def test_the_same_volume_as_from_one_process(start: Start, local: Way, tmp_path: Path) -> None:
    scan = tmp_path / "scan.nx"
    write_scan(scan, Settings(columns=96, rows=135, angles=120))
    with start("node[1-4]", "reconstruct", scan, "hosts.h5") as command:
        finished = command.wait(timeout=60)
    assert finished.returncode == 0, finished.stderr
    assert "4 ranks on 4 hosts, 4 workers" in finished.stderr
    check_nothing_is_left(tmp_path)
    assert local.run("reconstruct", scan, "local.h5", ranks=1).code == 0
    with h5py.File(tmp_path / "hosts.h5") as ours, h5py.File(tmp_path / "local.h5") as reference:
        assert np.array_equal(ours["/entry/data/data"][()], reference["/entry/data/data"][()])


def test_the_exit_code_comes_back(start: Start, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import sys; sys.exit(5)")
    with start("node1,node2", "job.py") as command:
        assert command.wait(timeout=60).returncode == 5
    check_nothing_is_left(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_launch_hosts(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "job.py").write_text(SLEEPS)
    with start("node[1-4]:2", "job.py") as command:
        end = time.monotonic() + 40
        while "workers 6" not in command.stdout:
            assert time.monotonic() < end, command.stderr
            time.sleep(0.05)
        (launcher,) = (
            pid
            for pid, line in command.processes().items()
            if line.startswith(f"{sys.executable} -m runner launch-hosts")
        )
        os.kill(launcher, number)
        finished = command.wait(timeout=30, gone_within=8.0)
    assert finished.returncode == {signal.SIGTERM: 143, signal.SIGKILL: -9}[number]
    assert "SIGTERM received" in finished.stderr
    check_nothing_is_left(tmp_path)
