"""Whatever is killed, and by whom: all of the job is gone soon, and the exit code is true."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.processes import Command, eldest
from tests.cluster.random_kills import strike_often
from tests.cluster.testbed import SBATCH_WAIT, VirtualSlurm
from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster


#: What the launcher's own process looks like, where another one starts it.
LAUNCHERS = {"srun": "srun ", "impi": "mpiexec.hydra ", "sbatch-mpich": "/bin/bash .*sbatch-run"}


def wait_until_it_sleeps(way: Way, command: Command) -> None:
    end = time.monotonic() + 30
    while not (way.folder / "sleeping").exists():
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stderr
        time.sleep(0.02)


def first(command: Command, pattern: str) -> int:
    """Return the eldest process of a job whose command line is so."""
    return eldest(pid for pid, line in command.processes().items() if re.match(pattern, line))


def interrupt_srun(launcher: int, command: Command) -> None:
    """Press Ctrl-C as srun wants it: twice in a second, and not once more."""
    end = time.monotonic() + 20
    answers = re.compile("one more within|sending Ctrl-C")
    while command.running() and "sending Ctrl-C" not in command.stderr:
        heard = len(answers.findall(command.stderr))
        os.kill(launcher, signal.SIGINT)
        while command.running() and len(answers.findall(command.stderr)) == heard:
            assert time.monotonic() < end, command.stderr
            time.sleep(0.02)


def check_the_next_start_finds_nothing(way: Way) -> None:
    """Some launchers kill all processes at once, and none is left to clear up: the next start does."""
    if way.name == "local":
        way.check_nothing_is_left()
    way.start_after_a_kill()


def test_random_processes_at_random_moments(way: Way) -> None:
    """A few; ``python -m tests.cluster.random_kills`` does as many as one likes."""
    strike_often(way, 3, seed=int.from_bytes(way.name.encode()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_launcher_ends_all_and_is_no_success(way: Way, number: signal.Signals) -> None:
    with way.start(JOBS / "sleeps.py") as command:
        wait_until_it_sleeps(way, command)
        launcher = first(command, LAUNCHERS.get(way.name, ".*"))
        if way.name == "srun" and number == signal.SIGINT:
            interrupt_srun(launcher, command)
        else:  # a shell cannot trap the SIGINT that it was started without
            os.kill(launcher, signal.SIGTERM if way.batch else number)
        finished = command.wait(timeout=10)
    if way.name == "local":
        assert finished.returncode == 128 + number
    assert finished.returncode != 0, finished.stderr  # which one is the launcher's choice
    tracebacks = re.findall(r"Traceback .*\n +File (.*)", finished.stderr)
    assert all("sleeps.py" in top for top in tracebacks), finished.stderr
    check_the_next_start_finds_nothing(way)


def test_a_killed_supervisor_leaves_no_file(local: Way) -> None:
    with local.start(JOBS / "sleeps.py") as command:
        wait_until_it_sleeps(local, command)
        assert list((local.folder / "scratch").iterdir())
        command.signal(signal.SIGKILL)
        command.wait(timeout=5, gone_within=2.0)
    local.check_nothing_is_left()


def test_a_launcher_that_is_gone_before_we_look_leaves_no_rank(local: Way) -> None:
    """Nobody reads what the rank says: the other end of its pipe was the launcher's."""
    for folder in ("meet", "scratch"):
        (local.folder / folder).mkdir()
    numbers = {"RUNNER_JOB": "orphan", "RUNNER_RANK": "0", "RUNNER_SIZE": "2"}
    argv = [sys.executable, "-m", "runner", JOBS / "sleeps.py"]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            argv, env={**local.variables, **numbers}, stderr=writer, timeout=30, check=False
        )
    finally:
        os.close(writer)
    assert ended.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)
    local.check_nothing_is_left()


@pytest.mark.slurm
def test_a_killed_srun_leaves_nothing(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path
) -> None:
    way = Way("srun", tmp_path, environment, slurm)
    with way.start(JOBS / "sleeps.py", ranks=4) as command:
        wait_until_it_sleeps(way, command)
        os.kill(first(command, "srun "), signal.SIGKILL)
        assert command.wait(timeout=5, gone_within=2.0).returncode != 0
    check_the_next_start_finds_nothing(way)


@pytest.mark.slurm
def test_a_killed_batch_script_leaves_nothing(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path
) -> None:
    way = Way("srun", tmp_path, environment, slurm)
    (tmp_path / "scratch").mkdir()
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/bash\n{' '.join(map(str, way.argv(4, JOBS / 'sleeps.py')))}\nexit\n")
    argv = [SBATCH_WAIT, "-N4", "-n4", "-o", str(tmp_path / "out"), script]
    with slurm.start(argv, cwd=tmp_path, env=way.variables) as command:
        wait_until_it_sleeps(way, command)
        os.kill(first(command, r"/bin/bash .*slurm_script"), signal.SIGKILL)
        assert command.wait(timeout=10, gone_within=2.0).returncode != 0
    check_the_next_start_finds_nothing(way)
