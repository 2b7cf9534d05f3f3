"""The ranks find each other by a private file or by MPI, and never the wrong ones."""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from pathlib import Path

import pytest

from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import Command
from tests.cluster.testbed import SBATCH_WAIT, VirtualSlurm
from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster


@pytest.fixture
def by_mpi(mpirun: MpiLauncher, environment: dict[str, str], tmp_path) -> Way:
    return Way(mpirun.name, tmp_path, environment | mpirun.environment, mpirun)


@pytest.mark.parametrize(("rendezvous", "said"), [("file", "a private file"), ("mpi", "MPI broadcast")])
def test_both_meetings_under_every_mpi(by_mpi: Way, rendezvous: str, said: str) -> None:
    result = by_mpi.run("--rendezvous", rendezvous, JOBS / "ends.py", "success")
    assert result.code == 0, result.err
    assert f"met by {said}" in result.err


def test_a_rank_that_is_done_first_takes_none_with_it(by_mpi: Way, mpirun: MpiLauncher) -> None:
    last = by_mpi.folder / "last"
    argv = [*mpirun.argv(3), sys.executable, JOBS / "ends_apart.py", last]
    with Command(argv, cwd=by_mpi.folder, env=by_mpi.variables) as command:
        finished = command.wait(timeout=60)
    assert finished.returncode == 0, finished.stdout
    assert last.read_text() == "apart"


@pytest.mark.slurm
def test_mpi_that_sees_single_ranks_is_named(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path
) -> None:
    library = MpiLauncher("mpich")
    if not library.program.exists():
        pytest.skip("no mpich: run make test")
    way = Way("srun", tmp_path, environment | library.environment, slurm)  # srun offers MPICH no PMI here
    result = way.run("--rendezvous", "mpi", JOBS / "ends.py", "success", ranks=2, timeout=40)
    assert result.code == 69
    assert "MPI sees rank 0 of 1" in result.err


def test_the_ticket_is_private_while_it_is_there(by_mpi: Way) -> None:
    with by_mpi.start("--rendezvous", "file", JOBS / "waits.py") as command:
        end = time.monotonic() + 30
        while not (tickets := list((by_mpi.folder / "meet").glob("*.ticket"))):
            assert time.monotonic() < end, command.stderr
            time.sleep(0.01)
        assert stat.S_IMODE(tickets[0].stat().st_mode) == 0o600
        (by_mpi.folder / "go").touch()
        assert command.wait(timeout=60).returncode == 0
    by_mpi.check_nothing_is_left()


@pytest.mark.slurm
def test_a_ticket_left_by_a_killed_start_does_no_harm(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path
) -> None:
    way = Way("srun", tmp_path, environment | {"RUNNER_JOB": "the-same-name"}, slurm)
    with way.start(JOBS / "ends.py", "busy") as command:
        end = time.monotonic() + 30
        while not (way.folder / "last_statement").exists() and not list(
            (way.folder / "meet").glob("*.ticket")
        ):
            assert time.monotonic() < end, command.stderr
            time.sleep(0.01)
        command.kill()
    for folder in (tmp_path / "scratch").iterdir():
        folder.rmdir() if not any(folder.iterdir()) else None
    stale = list((tmp_path / "meet").glob("*.ticket"))
    result = Way("srun", tmp_path, way.environment, slurm).start(JOBS / "ends.py", "exit3")
    with result as command:
        assert command.wait(timeout=60).returncode == 3, (stale, command.stderr)
    assert not list((tmp_path / "meet").glob("*.ticket"))


@pytest.mark.slurm
def test_forgotten_srun_is_named(slurm: VirtualSlurm, environment: dict[str, str], tmp_path) -> None:
    way = Way("local", tmp_path, environment)
    script = tmp_path / "forgot.sh"
    words = " ".join(str(word) for word in way.argv(1, JOBS / "ends.py", "success"))
    script.write_text(f"#!/bin/bash\n{words}\n")
    output = tmp_path / "out"
    argv = [SBATCH_WAIT, "-N2", "-n4", "-o", str(output), str(script)]
    finished = slurm.run(argv, timeout=60, env=environment, cwd=tmp_path)
    assert finished.returncode == 64
    assert "put srun (or mpirun) in front" in output.read_text()


@pytest.mark.slurm
@pytest.mark.parametrize("mpi", ["openmpi", "mpich", "impi"])
def test_mpirun_inside_a_slurm_job(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path, mpi: str
) -> None:
    launcher = MpiLauncher(mpi)
    if not launcher.program.exists():
        pytest.skip(f"no {mpi}: run make test")
    way = Way(mpi, tmp_path, environment | launcher.environment, launcher)
    script = tmp_path / "job.sh"
    words = " ".join(str(word) for word in way.argv(4, JOBS / "ends.py", "exit3"))
    script.write_text(f"#!/bin/bash\nexport RUNNER_RENDEZVOUS_DIR={tmp_path}/meet\n{words}\n")
    output = tmp_path / "out"
    argv = [SBATCH_WAIT, "-N2", "-n2", "-o", str(output), str(script)]
    env = {**way.environment, "TEST_FOLDER": str(tmp_path)}
    finished = slurm.run(argv, timeout=90, env=env, cwd=tmp_path)
    assert finished.returncode == 3, output.read_text()
    assert "4 ranks on" in output.read_text()  # on how many hosts is mpirun's choice


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_job_with_its_code(local: Way, number: signal.Signals, code: int) -> None:
    with local.start("-q", JOBS / "sleeps.py") as command:
        end = time.monotonic() + 30
        while not (local.folder / "sleeping").exists():
            assert time.monotonic() < end, command.stderr
            time.sleep(0.02)
        command.signal(number)
        assert command.wait(timeout=5).returncode == code
    local.check_nothing_is_left()


@pytest.mark.slurm
def test_scancel_ends_the_job_and_leaves_nothing(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path
) -> None:
    way = Way("srun", tmp_path, environment, slurm)
    with way.start(JOBS / "sleeps.py", ranks=6) as command:
        end = time.monotonic() + 30
        while not (tmp_path / "sleeping").exists():
            assert time.monotonic() < end, command.stderr
            time.sleep(0.02)
        slurm.cancel(slurm.jobs())
        assert command.wait(timeout=10).returncode == 143
    way.check_nothing_is_left()


@pytest.mark.parametrize("launcher", ["openmpi", "mpich", "impi"])
@pytest.mark.mpi
def test_a_killed_mpirun_leaves_no_process(launcher: str, environment: dict[str, str], tmp_path) -> None:
    mpi = MpiLauncher(launcher)
    if not mpi.program.exists():
        pytest.skip(f"no {launcher}: run make test")
    way = Way(launcher, tmp_path, environment | mpi.environment, mpi)
    with way.start(JOBS / "sleeps.py") as command:
        end = time.monotonic() + 30
        while not (tmp_path / "sleeping").exists():
            assert time.monotonic() < end, command.stderr
            time.sleep(0.02)
        # Intel's mpirun is a shell script around the real one
        starters = [pid for pid, line in command.processes().items() if line.startswith("mpiexec.hydra")]
        os.kill(starters[0] if starters else command.pid, signal.SIGKILL)
        command.wait(timeout=5, gone_within=2.0)


def by_hand(way: Way, rank: int, *words: str | Path, size: int = 3) -> Command:
    """Start one rank as a fan-out script of a site would."""
    numbers = {"RUNNER_JOB": "fan-out", "RUNNER_RANK": str(rank), "RUNNER_SIZE": str(size)}
    return Way("local", way.folder, {**way.environment, **numbers}).start(*words, ranks=1)


def test_a_late_rank_joins(local: Way) -> None:
    words = ("--start-timeout", "8s", "--min-workers", "2", JOBS / "outlives.py", "24")
    with by_hand(local, 0, *words) as first, by_hand(local, 1, *words) as second:
        end = time.monotonic() + 30
        while not (local.folder / "done").exists():
            assert time.monotonic() < end, first.stderr
            time.sleep(0.02)
        with by_hand(local, 2, *words) as late:
            while "arrived late" not in first.stderr:
                assert time.monotonic() < end + 30, first.stderr
                time.sleep(0.02)
            (local.folder / "struck").touch()
            ended = first.wait(timeout=30)
            assert (second.wait(timeout=5).returncode, late.wait(timeout=5).returncode) == (0, 0)
    assert ended.returncode == 0, ended.stderr
    assert "starting without 1 of 3 ranks: 2; they may still join" in ended.stderr
    assert "arrived late, works now" in ended.stderr
    local.check_nothing_is_left()


def test_a_rank_that_never_comes_is_named(local: Way) -> None:
    words = ("--start-timeout", "8s", JOBS / "ends.py", "success")
    with by_hand(local, 0, *words) as first, by_hand(local, 1, *words) as second:
        ended = first.wait(timeout=20)
        assert ended.returncode == 69
        assert "waiting for 1 of 3 ranks: 2" in ended.stderr
        assert "1 of 3 ranks: 2 did not arrive within 8 s" in ended.stderr
        assert second.wait(timeout=5).returncode == 0  # told to stop in good order; rank 0 holds the code
    local.check_nothing_is_left()


def test_a_rank_without_rank_0_gives_up(local: Way) -> None:
    numbers = {"RUNNER_JOB": "no-leader", "RUNNER_RANK": "1", "RUNNER_SIZE": "2"}
    way = Way("local", local.folder, {**local.environment, **numbers})
    result = way.run("--start-timeout", "2s", JOBS / "ends.py", "success")
    assert result.code == 69
    assert "rank 0 did not answer" in result.err


def test_the_wrong_interface_is_refused_by_name(local: Way) -> None:
    numbers = {"RUNNER_JOB": "x", "RUNNER_RANK": "0", "RUNNER_SIZE": "2"}
    way = Way("local", local.folder, {**local.environment, **numbers})
    result = way.run("--interface", "nosuch0", JOBS / "ends.py", "success")
    assert result.code == 64
    assert "interface 'nosuch0' has no address" in result.err
