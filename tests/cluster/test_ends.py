"""However a job ends, the launcher ends with its exit code, soon, and leaves nothing."""

from __future__ import annotations

import re

import pytest

from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster


def seconds_after_last_statement(way: Way, ended_at: float) -> float:
    return ended_at - float((way.folder / "last_statement").read_text())


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("success", 0, ""),
        ("busy", 0, ""),
        ("raise", 1, "ValueError: this is the job's own error"),
        ("exit3", 3, ""),
        ("text", 1, "this is the job's own text"),
        ("os_exit7", 7, ""),
        ("SIGKILL", 137, ""),
        ("SIGTERM", 143, ""),
        ("SIGINT", 130, "KeyboardInterrupt"),
    ],
)
def test_exit_code_is_the_jobs(way: Way, how: str, code: int, said: str) -> None:
    result = way.run(JOBS / "ends.py", how)
    assert result.code == code, result.err
    assert said in result.err
    assert seconds_after_last_statement(way, result.ended_at) < 2.0 + result.finished.delay
    assert result.err.count("Traceback") == (how in ("raise", "SIGINT"))


def test_the_traceback_is_the_jobs_own(local: Way) -> None:
    result = local.run("--quiet", JOBS / "ends.py", "raise")
    frames = re.findall(r'File "(.*?)"', result.err)
    assert frames == [str(JOBS / "ends.py")]


def test_a_killed_worker_is_replaced_and_its_task_runs_again(way: Way) -> None:
    result = way.run(JOBS / "dies.py")
    assert result.code == 0, result.err
    assert "all done" in result.out
    assert re.search(
        r"rank \d+ @ \S+ worker \S+: killed by signal 9 \(SIGKILL\)(, with .*)?; started again", result.err
    )
    assert "Traceback" not in result.err


def test_a_warning_of_the_walltime_kills_no_job(local: Way) -> None:
    result = local.run(JOBS / "ends.py", "SIGUSR1")
    assert result.code == 0, result.err
