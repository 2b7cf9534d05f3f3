"""The tools of these tests must be able to fail themselves."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.cluster import processes
from tests.cluster.mpi import MpiLauncher
from tests.cluster.testbed import SBATCH_WAIT, VirtualSlurm

MEET = """
import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
word = world.bcast("met" if world.rank == 0 else None)
with open(f"{sys.argv[1]}/{world.rank}", "w") as file:
    file.write(f"{word} {world.size}")
"""


def command_lines() -> list[str]:
    """The command line of every process of this machine."""
    return [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]


def test_a_finished_command_reports_its_output_and_code() -> None:
    started = time.monotonic()
    finished = processes.run(["bash", "-c", "echo out; echo err >&2; sleep 0.2; exit 3"], timeout=10)
    assert (finished.returncode, finished.stdout, finished.stderr) == (3, "out\n", "err\n")
    assert finished.seconds > 0.2
    assert finished.seconds + finished.gone_after < time.monotonic() - started


def test_a_command_that_hangs_is_ended_and_reported() -> None:
    hangs = ["bash", "-c", "trap '' TERM; echo begun; sleep 60 & wait; sleep 60"]
    with processes.Command(hangs) as command:
        end = time.monotonic() + 30
        while "begun" not in command.stdout:
            assert time.monotonic() < end
            time.sleep(0.02)
        started = time.monotonic()
        with pytest.raises(AssertionError, match=r"did not end in 0\.5 s(.|\n)*begun"):
            command.wait(timeout=0.5)
        assert time.monotonic() - started < 10


def test_a_survivor_is_found_named_and_killed() -> None:
    # a session of its own: no signal to the group reaches it
    sleeps = f"sleep 61.{os.getpid()}"  # as no other test does at the same time
    orphan = ["bash", "-c", f"setsid -f {sleeps}; exit 0"]
    with pytest.raises(AssertionError, match=rf"left processes after 0\.3 s(.|\n)*{re.escape(sleeps)}"):
        processes.run(orphan, timeout=10, gone_within=0.3)
    assert not [line for line in command_lines() if line.startswith(sleeps)]


def test_a_late_descendant_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orphan = "setsid -f bash -c 'until [ -e go ]; do sleep 0.02; done'"
    with processes.Command(["bash", "-c", orphan], cwd=tmp_path) as command:
        looked, look = [], command.processes

        def let_it_go() -> dict[int, str]:
            looked.append(time.monotonic())
            if looked[-1] > looked[0] + 0.3:
                (tmp_path / "go").touch()
            return look()

        monkeypatch.setattr(command, "processes", let_it_go)
        finished = command.wait(timeout=10, gone_within=10)
    assert 0.3 < finished.gone_after < 10 + finished.delay


def test_a_signal_reaches_the_command() -> None:
    with processes.Command(["sleep", "60"]) as command:
        command.signal(signal.SIGINT)
        assert command.wait(timeout=5).returncode == -signal.SIGINT


@pytest.mark.cluster
def test_mpi4py_meets_under_each_launcher(
    mpirun: MpiLauncher, environment: dict[str, str], tmp_path: Path
) -> None:
    argv = [*mpirun.argv(3), sys.executable, "-c", MEET, tmp_path]
    finished = processes.run(argv, timeout=60, env=environment | mpirun.environment)
    assert finished.returncode == 0, finished.stderr
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == dict.fromkeys("012", "met 3")


@pytest.mark.cluster
@pytest.mark.slurm
def test_srun_starts_ranks_on_every_host(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path
) -> None:
    write = f"echo $SLURM_PROCID > {tmp_path}/$(hostname)"
    finished = slurm.run(["srun", "-N4", "-n4", "bash", "-c", write], timeout=60, env=environment)
    assert finished.returncode == 0, finished.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["node1", "node2", "node3", "node4"]


@pytest.mark.cluster
@pytest.mark.slurm
def test_processes_on_virtual_hosts_are_seen_and_ended(
    slurm: VirtualSlurm, environment: dict[str, str]
) -> None:
    with slurm.start(["srun", "-N4", "-n4", "sleep", "62"], env=environment) as command:
        end = time.monotonic() + 30
        while sum("sleep 62" in line and "srun" not in line for line in command.processes().values()) < 4:
            assert time.monotonic() < end, command.stderr
            time.sleep(0.05)
        left = command.kill()
    assert len(left) >= 5  # srun and its four ranks
    assert not command.processes()


@pytest.mark.cluster
@pytest.mark.parametrize("submits", [True, False])
def test_a_job_outlives_the_command_that_submitted_it(submits: bool) -> None:
    """As `sbatch` does: it passes its environment on to the job, which may start before it has ended."""
    submit = "env SLURM_JOB_ID=7 setsid sleep 61 > /dev/null 2>&1 & sleep 60"
    with processes.Command(["bash", "-c", submit], submits=submits) as command:
        end = time.monotonic() + 30
        while not (job := [pid for pid, line in all_of(command).items() if line.strip() == "sleep 61"]):
            assert time.monotonic() < end
            time.sleep(0.05)
        command.kill()
        assert len(set(all_of(command)) & set(job)) == submits
    for pid in job:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def all_of(command: processes.Command) -> dict[int, str]:
    """Its processes, jobs and all."""
    return processes.marked(command._mark)


@pytest.mark.cluster
@pytest.mark.slurm
@pytest.mark.parametrize(("command", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", 137)])
def test_waiting_for_a_batch_job_gives_its_code(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path, command: str, code: int
) -> None:
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/bash\n{command}\n")
    finished = slurm.run([SBATCH_WAIT, script], timeout=30, cwd=tmp_path, env=environment)
    assert finished.returncode == code, finished.stderr


@pytest.mark.cluster
@pytest.mark.slurm
def test_hosts_are_hurt_and_repaired(slurm: VirtualSlurm, environment: dict[str, str]) -> None:
    slurm.kill_host("node4")
    slurm.freeze_host("node3")
    slurm.cut_host("node2")
    with pytest.raises(RuntimeError, match="no host node4"):
        slurm.script("tb-exec", "node4", "true")
    slurm.repair()
    finished = slurm.run(["srun", "-N4", "-n4", "true"], timeout=60, env=environment)
    assert finished.returncode == 0, finished.stderr
