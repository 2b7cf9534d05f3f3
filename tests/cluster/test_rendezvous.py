"""Whatever lies in the rendezvous folder: plain success or one line, never a wrong cluster."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import Command, Finished
from tests.cluster.testbed import SBATCH_WAIT, VirtualSlurm, why_not
from tests.cluster.ways import JOBS, WAITING, Way

pytestmark = pytest.mark.cluster

STALE = {
    "format": 1,
    "addresses": [["127.0.0.1", 9]],
    "nonce": "of an earlier start",
    "host": "gone",
    "size": 2,
    "job": "old",
    "credentials": None,
}


def start(way: Way, rank: int, *words: str | Path, name: str = "a-name", size: int = 2) -> Command:
    """Start one of two ranks by hand."""
    variables = {"RUNNER_RANK": str(rank), "RUNNER_SIZE": str(size), "RUNNER_JOB": name}
    one = Way("local", way.folder, {**way.environment, **variables})
    return one.start("-q", "--no-dashboard", *words, ranks=1)


def run_two(way: Way, ticket: Path, *words: str | Path) -> tuple[Finished, Finished]:
    """Start rank 1, which finds what is there, and then rank 0.

    Rank 1 does not look again before rank 0 has put its ticket there: its patience is short.
    """
    found = ticket.read_bytes()
    with start(way, 1, *words) as one:
        end = time.monotonic() + 20
        while len(one.processes()) < 2:  # from then on it looks for rank 0
            assert one.running(), one.stderr
            assert time.monotonic() < end, one.stderr
            time.sleep(0.02)
        time.sleep(0.5)
        one.signal(signal.SIGSTOP)
        with start(way, 0, *words) as zero:
            while ticket.read_bytes() == found:
                assert zero.running(), zero.stderr
                assert time.monotonic() < end, zero.stderr
                time.sleep(0.02)
            one.signal(signal.SIGCONT)
            return zero.wait(timeout=30), one.wait(timeout=10)


@pytest.mark.parametrize("what", ["stale", "empty", "half-written", "foreign", "world-readable"])
def test_a_file_that_is_no_ticket_of_ours_is_replaced(local: Way, what: str) -> None:
    meet = local.folder / "meet"
    meet.mkdir()
    ticket = meet / "runner-a-name.ticket"
    content = json.dumps(STALE)
    ticket.write_text({"empty": "", "half-written": content[:60]}.get(what, content))
    ticket.chmod(0o644 if what == "world-readable" else 0o600)
    if what == "foreign":
        if reason := why_not():
            pytest.skip(reason)
        os.chown(ticket, pwd.getpwnam("nobody").pw_uid, -1)
    zero, one = run_two(local, ticket, JOBS / "ends.py", "exit3")
    assert (zero.returncode, one.returncode) == (3, 0), zero.stderr + one.stderr
    assert (WAITING.sub("", zero.stderr), one.stderr) == ("", "")
    local.check_nothing_is_left()


def test_a_foreign_ticket_that_stays_is_named(local: Way) -> None:
    (local.folder / "meet").mkdir()
    ticket = local.folder / "meet" / "runner-a-name.ticket"
    ticket.write_text(json.dumps(STALE))
    ticket.chmod(0o644)
    with start(local, 1, JOBS / "ends.py", "success") as one:
        ended = one.wait(timeout=30)
    assert ended.returncode == 69
    assert ended.stderr.count("\n") == 1
    assert "a ticket belongs to user" in ended.stderr


@pytest.fixture(params=["ro", "size=4k,nr_inodes=2"])
def unwritable(request: pytest.FixtureRequest, local: Way) -> Iterator[Path]:
    """A file system that takes no file: read-only, or full."""
    if reason := why_not():
        pytest.skip(reason)
    folder = local.folder / "meet"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", request.param, "tmpfs", folder], check=True, timeout=10)
    if request.param != "ro":
        (folder / "a-file").touch()
    yield folder
    subprocess.run(["umount", "-l", folder], check=True, timeout=10)


def test_a_folder_that_takes_no_file_is_named(local: Way, unwritable: Path) -> None:
    with start(local, 0, JOBS / "ends.py", "success") as zero:
        ended = zero.wait(timeout=30)
    assert ended.returncode == 73
    assert ended.stderr.count("\n") == 1
    assert f"rendezvous folder {unwritable} cannot be used (" in ended.stderr
    assert "--rendezvous-dir" in ended.stderr


def test_two_jobs_at_once_do_not_meet(local: Way) -> None:
    one = [start(local, rank, JOBS / "ends.py", "exit3", name="one") for rank in (0, 1)]
    two = [start(local, rank, JOBS / "ends.py", "text", name="two") for rank in (0, 1)]
    with one[0] as a, one[1] as b, two[0] as c, two[1] as d:
        codes = [command.wait(timeout=30).returncode for command in (a, b, c, d)]
    assert codes == [3, 0, 1, 0]
    local.check_nothing_is_left()


def test_the_second_of_one_name_finds_the_first(local: Way) -> None:
    """The first one waits for its rank 1; the second one knocks, and leaves it alone."""
    with start(local, 0, JOBS / "ends.py", "exit3") as first:
        wait_for_ticket(local, first)
        with start(local, 0, JOBS / "ends.py", "success") as second:
            ended = second.wait(timeout=30)
        assert ended.returncode == 69
        assert ended.stderr.count("\n") == 1
        assert "two processes claim rank 0 of 2" in ended.stderr
        assert f"(pid {first.pid})" in ended.stderr
        assert f"(pid {second.pid})" in ended.stderr
        assert "under the name runner-a-name" in ended.stderr
        with start(local, 1, JOBS / "ends.py", "exit3") as other:
            assert first.wait(timeout=30).returncode == 3
            assert other.wait(timeout=5).returncode == 0
    local.check_nothing_is_left()


def test_of_two_that_start_at_the_same_moment_one_goes_on(local: Way) -> None:
    """Neither sees the other's ticket before it writes its own: what the first wrote is put away for that."""
    ticket = local.folder / "meet" / "runner-a-name.ticket"
    with start(local, 0, JOBS / "ends.py", "exit3") as first:
        wait_for_ticket(local, first)
        ticket.rename(local.folder / "away")
        with start(local, 0, JOBS / "ends.py", "exit3") as second:
            ended = first.wait(timeout=20)
            assert ended.returncode == 69
            assert "two processes claim rank 0 of 2" in ended.stderr
            assert f"(pid {second.pid})" in ended.stderr
            with start(local, 1, JOBS / "ends.py", "exit3") as other:
                assert second.wait(timeout=30).returncode == 3
                assert other.wait(timeout=5).returncode == 0
    local.check_nothing_is_left()


def wait_for_ticket(way: Way, command: Command) -> None:
    end = time.monotonic() + 20
    while not list((way.folder / "meet").glob("*.ticket")):
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stderr
        time.sleep(0.02)
    time.sleep(0.2)  # the ticket lies there a moment before rank 0 answers


INHERITED = {  # what a rank of another job, started by mpirun in a step of four, hands to what it submits
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "4",
    "PMI_RANK": "1",
    "PMI_SIZE": "4",
    "MPI_LOCALRANKID": "1",
    "SLURM_PROCID": "1",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NUM_TASKS": "4",
}


@pytest.mark.slurm
@pytest.mark.parametrize(
    ("launcher", "code", "said"),
    [("srun --cpu-bind=none", 3, ""), ("", 64, "put srun (or mpirun) in front"), ("mpirun -n 2", 3, "")],
)
def test_a_job_submitted_by_a_rank_of_another(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path, launcher: str, code: int, said: str
) -> None:
    mpi = MpiLauncher("mpich")
    if launcher.startswith("mpirun") and not mpi.program.exists():
        pytest.skip("no mpich: run make test")
    (tmp_path / "scratch").mkdir()
    script = tmp_path / "job.sh"
    words = f"{launcher} {sys.executable} -m runner -q --no-dashboard {JOBS / 'ends.py'} exit3"
    script.write_text(f"#!/bin/bash\n{words}\n")
    output = tmp_path / "out"
    env = {
        **environment,
        **mpi.environment,
        **INHERITED,
        "RUNNER_RENDEZVOUS_DIR": str(tmp_path / "meet"),
        "RUNNER_SCRATCH": str(tmp_path / "scratch"),
        "TEST_FOLDER": str(tmp_path),
    }
    argv = [SBATCH_WAIT, "-N1", "-n2", "-o", str(output), str(script)]
    finished = slurm.run(argv, timeout=60, env=env, cwd=tmp_path)
    assert finished.returncode == code, output.read_text()
    assert said in output.read_text()


@pytest.mark.slurm
def test_ranks_do_not_wait_for_a_rank_0_that_cannot_begin(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path
) -> None:
    """``srun`` itself lets the others go on when a rank fails."""
    blocked = tmp_path / "a-file"
    blocked.touch()
    way = Way("srun", tmp_path, environment, slurm)
    words = ("--rendezvous-dir", blocked / "meet", JOBS / "ends.py", "success")
    with way.start(*words, ranks=4) as command:
        finished = command.wait(timeout=40)
    assert finished.returncode != 0
    assert "rendezvous folder" in finished.stderr
    assert "Traceback" not in finished.stderr
