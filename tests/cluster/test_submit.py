"""Jobs are submitted to a real SLURM, followed, ended and chained, with our commands alone."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.processes import Finished
from tests.cluster.testbed import VirtualSlurm

pytestmark = [pytest.mark.cluster, pytest.mark.slurm]

JOB = """
import sys
from pathlib import Path
from dask.distributed import Client

print("sum", Client().submit(sum, [1, 2, 3]).result())
ends = Path("ends")  # one line for each run that is left: its exit code
first, *others = ends.read_text().split()
ends.write_text(" ".join(others))
sys.exit(int(first))
"""

Runner = Callable[..., Finished]


@pytest.fixture
def runner(slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path) -> Runner:
    """Our command on the login host, in a folder with a job that ends as ``ends`` says."""
    (tmp_path / "job.py").write_text(JOB)
    environ = environment | {"RUNNER_STATUS_DIR": str(tmp_path / "status")}

    def run(*words: str, timeout: float = 60, **more: str) -> Finished:
        argv = [sys.executable, "-m", "runner", *words]
        return slurm.run(argv, timeout=timeout, cwd=tmp_path, env=environ | more, submits=True)

    return run


def submitted(runner: Runner, *words: str, **more: str) -> str:
    """Submit to two hosts; return the ids of the jobs."""
    finished = runner("submit", "slurm", "--nodes", "2", "--time", "0:05:00", *words, **more)
    assert finished.returncode == 0, finished.stderr
    found = re.search(r"SLURM jobs? ([\d, ]+)", finished.stdout)
    assert found, finished.stdout
    return found[1].replace(" ", "").rstrip(",")


def all_logs(folder: Path) -> str:
    return "".join(f"--- {path.name}\n{path.read_text()}" for path in sorted(folder.glob("*.out")))


def test_a_job_is_waited_for_and_its_exit_code_is_ours(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "ends").write_text("3")
    job = submitted(runner, "job.py")
    waited = runner("wait", job)
    assert waited.returncode == 3, waited.stderr + all_logs(tmp_path)
    log = runner("log", job)
    assert "sum 6\n" in log.stdout
    assert f"SLURM job {job}: " in waited.stderr
    assert "ended 3" in runner("status", job).stdout


#: Of a job, as its processes have it: whoever submits from there means another one.
INHERITED = {
    "SLURM_JOB_ID": "999999",
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_CPU_BIND": "quiet,mask_cpu:0x1",
    "OMPI_COMM_WORLD_RANK": "1",
    "RUNNER_END": "1",
}


def test_a_log_is_followed_to_the_end_of_a_job_that_was_submitted_from_another(
    runner: Runner, tmp_path: Path
) -> None:
    (tmp_path / "ends").write_text("0")
    job = submitted(runner, "job.py", **INHERITED)
    followed = runner("log", job, "--follow", timeout=90)
    assert "sum 6\n" in followed.stdout
    assert runner("wait", job).returncode == 0, all_logs(tmp_path)
    assert "ended 0" in runner("status", job).stdout


def test_a_reconstruction_that_was_sized_here_is_done(
    runner: Runner, tmp_path: Path, shared_data: Path
) -> None:
    scan = shared_data / "scans" / "savu24737_nxtomo.nx"
    words = ("--nodes", "3", "--mem", "1500M", "reconstruct", str(scan), "volume.h5")
    finished = runner("submit", "slurm", "--auto", *words)
    assert finished.returncode == 0, finished.stderr
    assert "runner: sized: 3 nodes for 10:00, 1.5 GiB of memory on each: " in finished.stderr
    job = re.search(r"SLURM job (\d+)", finished.stdout)
    assert job, finished.stdout
    assert runner("wait", job[1]).returncode == 0, all_logs(tmp_path)
    assert "3 hosts" in runner("log", job[1]).stdout
    assert (tmp_path / "volume.h5").stat().st_size > 135 * 160 * 160 * 4


def test_a_job_is_ended_and_says_so(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import time; print('sleeping', flush=True); time.sleep(200)")
    job = submitted(runner, "job.py")
    assert "SLURM job" in runner("status", job).stdout or job in runner("status", job).stdout
    cancelled = runner("cancel", job)
    assert cancelled.returncode == 0, cancelled.stderr
    assert runner("wait", job).returncode == 143


def test_a_chain_goes_on_until_all_is_done(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "ends").write_text("75 0")  # a third run would fail: nothing says how it ends
    first, second, third = submitted(runner, "--parts", "3", "job.py").split(",")
    assert runner("wait", third, timeout=120).returncode == 0, all_logs(tmp_path)
    assert [runner("wait", job).returncode for job in (first, second)] == [75, 0]
    assert "an earlier part of this chain ended with exit code 0" in runner("log", third).stdout


def test_a_task_of_an_array_is_followed_by_its_own_name(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(
        "import os, sys; print('task', os.environ['SLURM_ARRAY_TASK_ID']); "
        "sys.exit(int(os.environ['SLURM_ARRAY_TASK_ID']))"
    )
    job = submitted(runner, "--directive=--array=4-5", "job.py")
    assert runner("wait", job).returncode == 5, all_logs(tmp_path)
    assert runner("wait", f"{job}_4").returncode == 4  # the system is known from the job's own record
    assert "task 4\n" in runner("log", f"{job}_4").stdout
    assert f"slurm-{job}_4-" in runner("status", f"{job}_4").stdout


def test_a_chain_is_ended_as_one(runner: Runner, slurm: VirtualSlurm, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import time; time.sleep(200)")
    jobs = submitted(runner, "--parts", "3", "job.py").split(",")
    assert runner("cancel", jobs[0]).returncode == 0
    assert runner("wait", jobs[2]).returncode == 143
    assert not slurm.jobs() & set(jobs)


def test_what_sbatch_says_is_passed_on(runner: Runner) -> None:
    refused = runner("submit", "slurm", "--queue", "nowhere", "-c", "pass")
    assert refused.returncode == 64  # -c is no option of submit
    refused = runner("submit", "slurm", "--queue", "nowhere", "--", "-c", "pass")
    assert refused.returncode == 69
    assert "sbatch refused the job: " in refused.stderr
    assert "invalid partition" in refused.stderr
