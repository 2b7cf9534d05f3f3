"""Jobs are submitted, followed, chained and ended, where a small LSF of ours plays the batch system.

On a real SLURM: ``test_submit.py``.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster import played
from tests.cluster.processes import Finished, run

pytestmark = pytest.mark.cluster

HOST = os.uname().nodename
JOB = """
import sys, time
from pathlib import Path
from dask.distributed import Client

print("sum", Client().submit(sum, [1, 2, 3]).result(), flush=True)
ends = Path("ends")  # how each run that is left ends
first, *others = ends.read_text().split()
ends.write_text(" ".join(others))
if first == "sleeps":
    time.sleep(100)
sys.exit(int(first))
"""

Runner = Callable[..., Finished]


@pytest.fixture
def runner(environment: dict[str, str], tmp_path: Path) -> Iterator[Runner]:
    """Our command in a folder with a job that ends as ``ends`` says, beside the small LSF."""
    work, commands = tmp_path / "work", tmp_path / "bin"
    work.mkdir()
    commands.mkdir()
    (work / "job.py").write_text(JOB)
    (tmp_path / "hosts").write_text(f"{HOST}\n{HOST}\n")
    played.install(commands, bsub=played.BSUB, bjobs=played.BJOBS, bkill=played.BKILL, blaunch=played.SSH)
    own = {"PATH": f"{commands}:{environment['PATH']}", "RUNNER_STATUS_DIR": str(tmp_path / "status")}

    def call(*words: str, timeout: float = 60) -> Finished:
        argv = [sys.executable, "-m", "runner", *words]
        return run(argv, timeout=timeout, cwd=work, env=environment | own)

    yield call
    for file in (tmp_path / "lsf").glob("*.pid"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGKILL)


def submitted(runner: Runner, *words: str) -> list[str]:
    asked = ["--starter", "hosts", "--ntasks-per-node", "2", "--cpus-per-task", "1", "--time", "0:05:00"]
    finished = runner("submit", "lsf", *asked, *words)
    assert finished.returncode == 0, finished.stderr
    found = re.search(r"LSF jobs? ([\d, ]+)", finished.stdout)
    assert found, finished.stdout
    return re.findall(r"\d+", found[1])


@pytest.mark.parametrize("code", [0, 3])
def test_a_job_from_its_submission_to_its_exit_code(runner: Runner, tmp_path: Path, code: int) -> None:
    (tmp_path / "work" / "ends").write_text(str(code))
    (job,) = submitted(runner, "job.py")
    waited = runner("wait", job)
    assert waited.returncode == code, waited.stderr + runner("log", job).stdout
    assert "sum 6\n" in runner("log", job).stdout
    assert f"ended {code}" in runner("status", job).stdout


def test_a_chain_goes_on_until_all_is_done(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "work" / "ends").write_text("75 0")  # nothing says how a third run would end
    jobs = submitted(runner, "--parts", "3", "job.py")
    assert runner("wait", jobs[2], timeout=100).returncode == 0
    assert [runner("wait", job).returncode for job in jobs] == [75, 0, 0]
    said = "an earlier part of this chain ended with exit code 0: nothing is left to do"
    assert [said in runner("log", job).stdout for job in jobs] == [False, False, True]


def test_an_error_ends_a_chain(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "work" / "ends").write_text("5")
    jobs = submitted(runner, "--parts", "2", "job.py")
    assert [runner("wait", job).returncode for job in jobs] == [5, 5]


def test_a_chain_is_ended_as_one_while_its_first_part_runs(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "work" / "ends").write_text("sleeps 0")
    jobs = submitted(runner, "--parts", "2", "job.py")
    while "sum 6" not in (log := runner("log", jobs[0])).stdout:
        assert log.returncode in (0, 66), log.stderr
    cancelled = runner("cancel", jobs[0])
    assert cancelled.stdout == f"LSF was asked to end {jobs[0]}, {jobs[1]}\n"
    assert [runner("wait", job).returncode for job in jobs] == [143, 143]
    assert "SIGTERM" in runner("log", jobs[0]).stdout
    assert (tmp_path / "work" / "ends").read_text() == "0"  # no second part ran


def test_of_a_chain_only_what_is_left_is_ended(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "work" / "ends").write_text("75 sleeps")
    jobs = submitted(runner, "--parts", "3", "job.py")
    assert runner("wait", jobs[0]).returncode == 75
    assert runner("cancel", jobs[0]).stdout == f"LSF was asked to end {jobs[1]}, {jobs[2]}\n"
    assert [runner("wait", job).returncode for job in jobs[1:]] == [143, 143]
    again = runner("cancel", jobs[0])
    assert (again.returncode, again.stdout) == (
        0,
        f"LSF job {jobs[0]} is over, and so are the parts behind it\n",
    )


def test_a_log_is_followed_while_the_job_runs(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "work" / "ends").write_text("0")
    (job,) = submitted(runner, "job.py")
    assert "sum 6\n" in runner("log", job, "--follow").stdout
